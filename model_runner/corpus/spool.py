"""Texts on their way into a corpus: written as they come, read back unique and in the order of their hashes."""

import hashlib
import mmap
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model_runner.corpus.documents import Document, clean
from model_runner.errors import RunnerError

ROW = np.dtype([("hash", "<u8"), ("more_hash", "<u8"), ("start", "<i8"), ("bytes", "<i8"), ("part", "<u2")])

MOST_PARTS = 1 << 16


def spool(documents: Iterable[Document], path: Path) -> tuple[NDArray[np.void], list[str]]:
    """Write the cleaned texts to a file; return a row for each different one, ordered by hash, and the parts.

    Memory is 34 bytes a document. Documents without anything but white space are left out.
    """
    columns = array("Q"), array("Q"), array("q"), array("q"), array("H")
    parts: dict[str, int] = {}
    with path.open("wb") as file:
        for document in documents:
            content = clean(document.text).encode()
            if content.strip():
                part = _part_number(document.part, parts)
                for column, value in zip(columns, (*_hashes(content), file.tell(), len(content), part), strict=True):
                    column.append(value)
                file.write(content)
    return _in_order(columns, parts)


def _part_number(part: str, parts: dict[str, int]) -> int:
    if part not in parts and len(parts) == MOST_PARTS:
        raise RunnerError(
            f"The part {part!r} is one too many: a corpus has at most {MOST_PARTS:,}. "
            "Name a field with fewer kinds, such as a language, with --part-field."
        )
    return parts.setdefault(part, len(parts))


def _hashes(content: bytes) -> tuple[int, int]:
    """128 bits of a hash of the text as two numbers: the first orders the documents and chooses the split."""
    value = hashlib.blake2b(content, digest_size=16).digest()
    return int.from_bytes(value[:8], "big"), int.from_bytes(value[8:], "big")


def _in_order(columns: "tuple[array[int], ...]", parts: dict[str, int]) -> tuple[NDArray[np.void], list[str]]:
    rows = np.empty(len(columns[0]), ROW)
    for name, column in zip(ROW.names or (), columns, strict=True):
        rows[name] = np.frombuffer(column, ROW[name])
    # The first of several equal texts stays, so that its part does not depend on the sort.
    rows = rows[np.lexsort((rows["start"], rows["more_hash"], rows["hash"]))]
    repeated = (rows["hash"][1:] == rows["hash"][:-1]) & (rows["more_hash"][1:] == rows["more_hash"][:-1])
    rows = rows[np.append(True, ~repeated)] if len(rows) else rows
    return _parts_by_name(rows, parts)


def _parts_by_name(rows: NDArray[np.void], parts: dict[str, int]) -> tuple[NDArray[np.void], list[str]]:
    """Number the parts alphabetically, so that the order in which sources are read does not matter."""
    names = sorted(parts)
    renumber = np.empty(len(parts), "<u2")
    for new, name in enumerate(names):
        renumber[parts[name]] = new
    rows["part"] = renumber[rows["part"]] if len(rows) else rows["part"]
    return rows, names


@contextmanager
def spooled(path: Path) -> Iterator[mmap.mmap]:
    """The file of texts, mapped for reading."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        yield content


def read_texts(content: mmap.mmap, rows: NDArray[np.void]) -> Iterator[str]:
    """The texts of some rows."""
    for start, length in zip(rows["start"].tolist(), rows["bytes"].tolist(), strict=True):
        yield content[start : start + length].decode()
