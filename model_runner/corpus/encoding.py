"""Texts into token ids, chunks and signatures: what is done for each document alone, on all cores."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from model_runner.corpus.chunks import chunk
from model_runner.corpus.signatures import signatures
from model_runner.corpus.spool import read_texts, spooled
from model_runner.errors import RunnerError
from model_runner.tokenizer import load_tokenizer, token_bytes

BATCH_BYTES = 1_000_000


class Encoded(NamedTuple):
    """A batch of documents."""

    lengths: NDArray[np.int32]
    """Tokens of each document."""
    tokens: NDArray[np.uint32]
    """Of all of them, one after the other."""
    chunks: NDArray[np.int32]
    """(C, 3): document within the batch, first token, one past the last token."""
    signatures: NDArray[np.uint32]
    """(C, P)."""


def encode(texts: Path, rows: NDArray[np.void], tokenizer: Path) -> Iterator[Encoded]:
    """The documents of a spool in the order of `rows`, in batches of about a megabyte of text.

    Raises RunnerError when the tokenizer does not give a text back, and when a process is killed on the way.
    """
    batches = _batches(rows)
    work = partial(_encode_batch, texts, tokenizer)
    workers = min(os.cpu_count() or 1, len(batches))
    if workers < 2:
        yield from map(work, batches)
        return
    # Not forked: the tokenizer's own threads do not survive a fork.
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        with _ctrl_c_left_to_this_process():
            encoded = pool.map(work, batches)
        try:
            yield from encoded
        except BrokenProcessPool as error:
            raise RunnerError(
                f"One of {workers} processes that encode text was killed, most likely for lack of memory. "
                "Give it more, and run it again."
            ) from error


@contextmanager
def _ctrl_c_left_to_this_process() -> Iterator[None]:
    """Processes that start in the meantime ignore it for good: one says that it was stopped, and not each of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _batches(rows: NDArray[np.void]) -> list[NDArray[np.void]]:
    """Rows grouped by where their running total of bytes falls."""
    number = np.cumsum(rows["bytes"]) // BATCH_BYTES
    return np.split(rows, np.flatnonzero(np.diff(number)) + 1)


def _encode_batch(texts: Path, tokenizer: Path, rows: NDArray[np.void]) -> Encoded:
    with spooled(texts) as content:
        documents = list(read_texts(content, rows))
    return encode_texts(documents, load_tokenizer(tokenizer), str(tokenizer))


def encode_texts(documents: list[str], tokenizer: Tokenizer, name: str) -> Encoded:
    """Encode some texts. `name` says in a refusal which tokenizer it was."""
    table = token_bytes(tokenizer)
    lengths = np.array([len(content) for content in table])
    ids = [encoding.ids for encoding in tokenizer.encode_batch_fast(documents, add_special_tokens=False)]
    rows: list[tuple[int, int, int]] = []
    words: list[list[int]] = []
    for number, (text, tokens) in enumerate(zip(documents, ids, strict=True)):
        if b"".join(map(table.__getitem__, tokens)) != text.encode():
            raise RunnerError(
                f"The tokenizer {name} does not give back the text that begins {text[:60]!r}. "
                "Give a byte-level tokenizer without a normalizer."
            )
        for start, end, chunk_words in _token_chunks(text, np.cumsum(lengths[tokens])):
            rows.append((number, start, end))
            words.append(chunk_words)
    return Encoded(
        np.array([len(tokens) for tokens in ids], np.int32),
        np.array([token for tokens in ids for token in tokens], np.uint32),
        np.array(rows, np.int32).reshape(-1, 3),
        signatures(words),
    )


def _token_chunks(text: str, token_ends: NDArray[np.int64]) -> Iterator[tuple[int, int, list[int]]]:
    """First token, one past the last, and words of each chunk. A token on the edge goes to the earlier one."""
    chunks = chunk(text)
    edges = np.array(list(accumulate(len(part.encode()) for part, _ in chunks)))
    ends = np.searchsorted(token_ends, edges, side="left") + 1
    start = 0
    for end, (_, words) in zip(ends.tolist(), chunks, strict=True):
        if end > start:
            yield start, end, words
            start = end
