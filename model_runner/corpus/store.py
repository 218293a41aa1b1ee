"""A corpus folder, memory-mapped for reading.

Shapes: N documents, S tokens of all documents, C chunks, V vocabulary, T tokens of one document.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_runner.corpus.digest import refuse_quick_change
from model_runner.corpus.info import SPLITS, CorpusInfo, read_info
from model_runner.corpus.names import CHUNKS, DOCUMENTS, INFO, TOKEN_BYTES, TOKEN_OFFSETS, TOKENS
from model_runner.errors import RunnerError
from model_runner.npy import read_array

DOCUMENT = np.dtype([("start", "<i8"), ("length", "<i4"), ("split", "u1"), ("part", "<u2")])
CHUNK = np.dtype(
    [("document", "<i8"), ("start", "<i4"), ("end", "<i4"), ("cluster", "<i8"), ("cluster_documents", "<i4")]
)


@dataclass(frozen=True)
class Corpus:
    """Documents as token ids without BOS, their splits and parts, and near-duplicate chunks."""

    folder: Path
    info: CorpusInfo
    tokens: NDArray[np.unsignedinteger[Any]]
    """(S,) uint16 or uint32, document after document."""
    documents: NDArray[np.void]
    """(N,) of DOCUMENT, ordered by a hash of the text."""
    chunks: NDArray[np.void]
    """(C,) of CHUNK, ordered by document and start; the chunks of a document cover all its tokens."""
    token_bytes_flat: NDArray[np.uint8]
    token_offsets: NDArray[np.int64]
    """(V + 1,) so that token v is the bytes from [v] to [v + 1]."""
    chunk_offsets: NDArray[np.int64]
    """(N + 1,) so that document n has the chunks from [n] to [n + 1]."""

    def document_tokens(self, document: int) -> NDArray[np.unsignedinteger[Any]]:
        """(T,) token ids of a document, without BOS. Raises IndexError for a number out of range."""
        if not 0 <= document < len(self.documents):
            raise IndexError(f"There is no document {document}; the corpus has {len(self.documents)}.")
        row = self.documents[document]
        return self.tokens[row["start"] : row["start"] + row["length"]]

    def document_chunks(self, document: int) -> NDArray[np.void]:
        """The rows of `chunks` of a document, in order."""
        return self.chunks[self.chunk_offsets[document] : self.chunk_offsets[document + 1]]

    def document_clusters(self, document: int) -> NDArray[np.int64]:
        """(T,) the near-duplicate cluster of each token of a document."""
        rows = self.document_chunks(document)
        return np.repeat(rows["cluster"], rows["end"] - rows["start"])

    def in_split(self, split: str, parts: Collection[str] | None = None) -> NDArray[np.int64]:
        """Numbers of the documents of a split, ascending, of all parts or of those named.

        Raises RunnerError for a split or a part that does not exist.
        """
        if split not in SPLITS:
            raise RunnerError(f"There is no split {split!r}; the splits are {', '.join(SPLITS)}.")
        wanted = self.documents["split"] == SPLITS.index(split)
        if parts is not None:
            wanted &= np.isin(self.documents["part"], self._part_numbers(parts))
        return np.flatnonzero(wanted)

    def token_bytes(self, token: int) -> bytes:
        """The bytes that a token stands for: of BOS, none."""
        return self.token_bytes_flat[self.token_offsets[token] : self.token_offsets[token + 1]].tobytes()

    def text(self, document: int) -> str:
        """The text of a document, exactly."""
        return b"".join(self.token_bytes(int(token)) for token in self.document_tokens(document)).decode()

    def _part_numbers(self, parts: Collection[str]) -> list[int]:
        unknown = [part for part in parts if part not in self.info.parts]
        if unknown:
            raise RunnerError(
                f"The corpus {self.folder} has no part {unknown[0]!r}; its parts are {', '.join(self.info.parts)}."
            )
        return [self.info.parts.index(part) for part in parts]


def open_corpus(folder: Path) -> Corpus:
    """Open a corpus folder, its arrays memory-mapped.

    Raises RunnerError when the folder is unfinished, of an unknown format, or has a damaged array: one whose bytes
    were changed too, up to QUICK_BYTES of it. Whoever reads tokens of a larger file asks `refuse_unknown`.
    """
    folder = Path(folder)
    info = read_info(folder / INFO)
    documents = _array(folder / DOCUMENTS, DOCUMENT, info.documents)
    chunks = _array(folder / CHUNKS, CHUNK, info.chunks)
    offsets = _array(folder / TOKEN_OFFSETS, np.dtype("<i8"), info.vocab_size + 1)
    tokens = _array(folder / TOKENS, token_dtype(info.vocab_size), info.tokens)
    if int(documents["length"].sum()) != info.tokens:
        raise RunnerError(f"{folder / DOCUMENTS} does not add up to the {info.tokens:,} tokens of {INFO}. Build again.")
    token_bytes = _array(folder / TOKEN_BYTES, np.dtype("u1"), int(offsets[-1]))
    refuse_quick_change(folder, info)
    return Corpus(
        folder=folder,
        info=info,
        tokens=tokens,
        documents=documents,
        chunks=chunks,
        token_bytes_flat=token_bytes,
        token_offsets=offsets,
        chunk_offsets=np.searchsorted(chunks["document"], np.arange(info.documents + 1)),
    )


def refuse_unknown(corpus: Corpus, tokens: NDArray[np.integer[Any]]) -> None:
    """Raise RunnerError where tokens read from the corpus are not of its vocabulary."""
    greatest = int(tokens.max(initial=0))
    if greatest >= corpus.info.vocab_size:
        raise RunnerError(
            f"{corpus.folder / TOKENS} is damaged: it holds the token {greatest}, and the vocabulary has "
            f"{corpus.info.vocab_size:,}. Restore it from a copy, or build the corpus again."
        )


def token_dtype(vocab_size: int) -> "np.dtype[Any]":
    """The smallest unsigned type of the format that holds every id."""
    return np.dtype("<u2") if vocab_size <= 1 << 16 else np.dtype("<u4")


def _array(path: Path, dtype: "np.dtype[Any]", length: int) -> NDArray[Any]:
    try:
        array = read_array(path)
    except (OSError, ValueError) as error:
        raise RunnerError(f"{path} is missing or cut short ({error}). Build the corpus again.") from error
    if array.dtype != dtype or array.shape != (length,):
        raise RunnerError(
            f"{path} holds {array.shape} of {array.dtype} where {INFO} says ({length},) of {dtype}. "
            "Build the corpus again."
        )
    return array
