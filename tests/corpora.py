"""A small, real corpus for tests, built by the builder itself."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from model_runner.corpus.build import BuildConfig, build_corpus
from model_runner.corpus.documents import Document
from model_runner.corpus.info import Source
from model_runner.corpus.splits import SHARES
from model_runner.corpus.store import Corpus
from model_runner.tokenizer import train_tokenizer


def make_corpus(
    folder: Path,
    documents: Sequence[str | tuple[str, str]],
    *,
    vocabulary: int = 384,
    shares: Mapping[str, float] = SHARES,
    tokenizer: Path | None = None,
) -> Corpus:
    """Build a corpus at `folder` from texts, or from (text, part) pairs.

    `shares={"collect": 1.0}` puts every document into one split. The tokenizer is learned from all the texts,
    whatever the split, so that small corpora have tokens of several letters. Documents come out in the order
    of their hashes: use `document_of` to find one.
    """
    given = [Document(text, "text") if isinstance(text, str) else Document(*text) for text in documents]
    with tempfile.TemporaryDirectory() as temporary:
        learned = Path(temporary, "tokenizer.json")
        train_tokenizer((document.text for document in given), vocabulary).save(str(learned))
        config = BuildConfig(name="test", tokenizer=tokenizer or learned, shares=dict(shares))
        return build_corpus(folder, lambda: given, _sources, config)


def document_of(corpus: Corpus, text: str) -> int:
    """The number of the document with this text."""
    return next(n for n in range(corpus.info.documents) if corpus.text(n) == text)


def _sources(parts: list[str]) -> tuple[Source, ...]:
    return (Source(name="texts of a test", version="1", licence="CC0-1.0", parts=tuple(parts)),)
