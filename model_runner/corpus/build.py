"""Documents into a corpus folder: spool, learn the tokenizer, encode, find near-duplicates, put in place."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from model_runner import tokenizer as bpe
from model_runner.corpus import names, store
from model_runner.corpus.describe import describe
from model_runner.corpus.documents import Document
from model_runner.corpus.duplicates import find_clusters
from model_runner.corpus.encoding import Encoded, encode
from model_runner.corpus.folder import appearing
from model_runner.corpus.info import SPLITS, Source, write_info
from model_runner.corpus.signatures import PERMUTATIONS
from model_runner.corpus.splits import SHARES, split_of
from model_runner.corpus.spool import read_texts, spool, spooled
from model_runner.corpus.store import Corpus, open_corpus, token_dtype
from model_runner.corpus.writing import growing_array
from model_runner.errors import RunnerError
from model_runner.progress import progress

LEARNED_BYTES = 24_000_000


@dataclass(frozen=True, kw_only=True)
class BuildConfig:
    """What a build depends on besides its documents."""

    name: str = "corpus"
    """Written into corpus.json."""
    vocabulary: int = 4096
    """Tokens to learn, BOS included."""
    tokenizer: Path | None = None
    """A byte-level tokenizer.json to use instead of learning one."""
    shares: dict[str, float] = field(default_factory=lambda: dict(SHARES))
    """Of the documents in each split."""
    replace: bool = False
    """Whether an existing corpus may be replaced."""


def build_corpus(
    out: Path,
    documents: Callable[[], Iterable[Document]],
    sources: Callable[[list[str]], tuple[Source, ...]],
    config: BuildConfig,
) -> Corpus:
    """Build a corpus folder from documents. The same texts give the same bytes, in whatever order they come.

    `sources` says for the names of the parts where they come from. Memory is bounded by the number of
    documents (34 bytes each) and of chunks (about 80 bytes each, their signatures on disk).
    Raises RunnerError when there is no text, or when the folder cannot be made; nothing is left then.
    """
    with appearing(out, config.replace) as folder:
        texts, signatures = folder / "texts.bin", folder / "signatures.bin"
        rows, parts = spool(documents(), texts)
        if not len(rows):
            raise RunnerError(f"There is no text to build {out} from. Give documents that are not empty.")
        splits = split_of(rows["hash"], config.shares)
        tokenizer = _tokenizer(config, texts, rows[splits == SPLITS.index("train")], folder)
        lengths = _write_tokens(folder, texts, rows, bpe.vocab_size(tokenizer), signatures)
        _write_documents(folder, lengths, splits, rows["part"])
        _write_clusters(folder, signatures)
        texts.unlink()
        signatures.unlink()
        info = describe(folder, config.name, tokenizer, tuple(parts), sources(parts), config.shares)
        write_info(folder / names.INFO, info)
    return open_corpus(out)


def _tokenizer(config: BuildConfig, texts: Path, rows: NDArray[np.void], folder: Path) -> Tokenizer:
    if config.tokenizer:
        tokenizer = bpe.load_tokenizer(config.tokenizer)
    else:
        tokenizer = bpe.train_tokenizer(_learned_from(texts, rows), config.vocabulary)
    # Not the library's own `save`, whose failures have no type.
    (folder / names.TOKENIZER).write_text(tokenizer.to_str(pretty=True), encoding="utf-8")
    flat, offsets = bpe.flatten(bpe.token_bytes(tokenizer))
    np.save(folder / names.TOKEN_BYTES, flat)
    np.save(folder / names.TOKEN_OFFSETS, offsets)
    return tokenizer


def _learned_from(texts: Path, rows: NDArray[np.void]) -> Iterator[str]:
    """The first 24 MB of the train split, which are a random sample since the order is that of hashes."""
    some = rows[np.cumsum(rows["bytes"]) <= max(LEARNED_BYTES, int(rows["bytes"][:1].sum()))]
    with spooled(texts) as content, progress("Learning tokens", int(some["bytes"].sum()), "bytes") as bar:
        for text in read_texts(content, some):
            yield text
            bar.advance(len(text.encode()))


def _write_tokens(
    folder: Path, texts: Path, rows: NDArray[np.void], vocab_size: int, signatures: Path
) -> NDArray[np.int32]:
    """Write tokens.npy, chunks.npy without its clusters, and the signatures; return each document's length."""
    lengths: list[NDArray[np.int32]] = []
    done = 0
    with (
        growing_array(folder / names.TOKENS, token_dtype(vocab_size)) as tokens,
        growing_array(folder / names.CHUNKS, store.CHUNK) as chunks,
        signatures.open("wb") as signature_file,
        progress("Encoding", len(rows), "documents") as bar,
    ):
        for batch in encode(texts, rows, folder / names.TOKENIZER):
            tokens.append(batch.tokens)
            chunks.append(_chunk_rows(batch, done))
            signature_file.write(batch.signatures.tobytes())
            lengths.append(batch.lengths)
            done += len(batch.lengths)
            bar.advance(len(batch.lengths))
    return np.concatenate(lengths)


def _chunk_rows(batch: Encoded, first_document: int) -> NDArray[np.void]:
    found = np.zeros(len(batch.chunks), store.CHUNK)
    found["document"] = batch.chunks[:, 0].astype(np.int64) + first_document
    found["start"], found["end"] = batch.chunks[:, 1], batch.chunks[:, 2]
    return found


def _write_documents(
    folder: Path, lengths: NDArray[np.int32], splits: NDArray[np.uint8], parts: NDArray[np.uint16]
) -> None:
    found = np.zeros(len(lengths), store.DOCUMENT)
    found["length"], found["split"], found["part"] = lengths, splits, parts
    found["start"] = np.cumsum(lengths, dtype=np.int64) - lengths
    np.save(folder / names.DOCUMENTS, found)


def _write_clusters(folder: Path, signatures: Path) -> None:
    chunks = np.load(folder / names.CHUNKS, mmap_mode="r+")
    shape = (len(chunks), PERMUTATIONS)
    tokens = chunks["end"] - chunks["start"]
    clusters = find_clusters(np.memmap(signatures, np.uint32, "r", shape=shape), np.array(chunks["document"]), tokens)
    chunks["cluster"] = clusters.cluster
    chunks["cluster_documents"] = clusters.documents
    chunks.flush()
