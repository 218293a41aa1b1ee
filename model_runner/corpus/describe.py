"""What a finished corpus says about itself: its digest, its counts, the settings it was made with."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from model_runner import tokenizer as bpe
from model_runner.corpus import names
from model_runner.corpus.digest import corpus_digest, file_digests
from model_runner.corpus.duplicates import BAND_ROWS, SHORT_THRESHOLD, SHORT_TOKENS, THRESHOLD
from model_runner.corpus.info import SPLITS, CorpusInfo, Source
from model_runner.corpus.signatures import PERMUTATIONS, SHINGLE_WORDS


def describe(
    folder: Path,
    name: str,
    tokenizer: Tokenizer,
    parts: tuple[str, ...],
    sources: tuple[Source, ...],
    shares: dict[str, float],
) -> CorpusInfo:
    """What corpus.json is to say about a folder whose arrays are written."""
    documents = np.load(folder / names.DOCUMENTS)
    files = file_digests(folder)
    return CorpusInfo(
        name=name,
        digest=corpus_digest(files, parts, bpe.bos_id(tokenizer)),
        tokenizer_digest=bpe.digest(tokenizer),
        vocab_size=bpe.vocab_size(tokenizer),
        bos=bpe.bos_id(tokenizer),
        parts=parts,
        sources=sources,
        shares=shares,
        documents=len(documents),
        tokens=int(documents["length"].sum()),
        chunks=len(np.load(folder / names.CHUNKS, mmap_mode="r")),
        counts=_counts(documents, parts),
        duplicates={
            "shingle_words": SHINGLE_WORDS,
            "permutations": PERMUTATIONS,
            "band_rows": BAND_ROWS,
            "threshold": THRESHOLD,
            "short_tokens": SHORT_TOKENS,
            "short_threshold": SHORT_THRESHOLD,
        },
        files=files,
    )


def _counts(documents: NDArray[np.void], parts: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Tokens by split and part."""
    size = len(SPLITS) * len(parts)
    cells = documents["split"].astype(np.int64) * len(parts) + documents["part"]
    sums = np.bincount(cells, documents["length"], size).astype(np.int64).reshape(len(SPLITS), len(parts))
    return {
        split: {part: int(count) for part, count in zip(parts, row, strict=True) if count}
        for split, row in zip(SPLITS, sums, strict=True)
    }
