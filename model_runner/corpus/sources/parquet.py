"""Parquet files, read a batch of rows at a time."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pyarrow.parquet

from model_runner.corpus.sources.field import field_text
from model_runner.errors import RunnerError

BATCH_ROWS = 1_000


def read_parquet(path: Path, field: str, part_field: str | None) -> Iterator[tuple[str, str | None]]:
    """The text, and the part where a field for it is named, of each row.

    Raises RunnerError, naming the row (from 1), for what is not text, and for a file that is not Parquet, has
    no rows, or several columns of that name.
    """
    number = 0
    for row in _rows(path, field, part_field):
        number += 1
        where = f"{path}, row {number}"
        part = field_text(row, part_field, where) if part_field else None
        yield field_text(row, field, where), part
    if not number:
        raise RunnerError(f"{path} has no rows. Remove it, or put documents into it.")


def _rows(path: Path, field: str, part_field: str | None) -> Iterator[dict[str, object]]:
    wanted = [field, part_field] if part_field else [field]
    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            _insist_on_one(path, wanted, file.schema_arrow.names)
            for batch in file.iter_batches(BATCH_ROWS, columns=wanted):
                yield from batch.to_pylist()
                number += len(batch)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise RunnerError(f"{path} cannot be read after row {number} ({error}). Write the file again.") from error


def _insist_on_one(path: Path, wanted: list[str], names: list[str]) -> None:
    for name in wanted:
        if name not in names:
            raise RunnerError(
                f"{path} has no column {name!r}; its columns are {', '.join(map(repr, names))}. Name one with --field."
            )
        if names.count(name) > 1:
            raise RunnerError(
                f"{path} has {names.count(name)} columns {name!r}, and nobody knows which is meant. Rename all but one."
            )
