"""A JSON object a line, plain or compressed."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

from model_runner.corpus.sources.field import field_text
from model_runner.corpus.sources.zst import zst_lines
from model_runner.errors import RunnerError


def read_jsonl(path: Path, field: str, part_field: str | None) -> Iterator[tuple[str, str | None]]:
    """The text, and the part where a field for it is named, of each line. Blank lines are passed over.

    Raises RunnerError, naming the line, for what is not UTF-8, not JSON, or has no text in the field, and
    for a file without documents.
    """
    some = False
    for number, line in _numbered_lines(path):
        if line.strip():
            some = True
            where = f"{path}, line {number}"
            fields = _object(line, where)
            part = field_text(fields, part_field, where) if part_field else None
            yield field_text(fields, field, where), part
    if not some:
        raise RunnerError(f"{path} is empty. Remove it, or put documents into it.")


def _numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        for number, line in enumerate(_lines(path), 1):
            yield number, line
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise RunnerError(
            f"{path} cannot be read after line {number} ({error}). Check that it is whole and has the right ending."
        ) from error


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as raw:
        if path.suffix.lower() == ".gz":
            with gzip.open(raw) as file:
                yield from file
        elif path.suffix.lower() == ".zst":
            yield from zst_lines(raw)
        else:
            yield from raw


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        fields = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise RunnerError(f"{where}: byte 0x{byte:02x} is not UTF-8. Convert the file to UTF-8.") from error
    except ValueError as error:
        # Also a whole number of more digits than Python reads, which has no type of its own.
        said = str(error).partition(":")[0]
        raise RunnerError(f"{where}: not valid JSON ({said}). Each line must be one JSON object.") from error
    except RecursionError as error:
        raise RunnerError(f"{where}: JSON nested too deeply. Each line must be one JSON object.") from error
    if not isinstance(fields, dict):
        raise RunnerError(f"{where}: a {type(fields).__name__} where an object is expected.")
    return fields
