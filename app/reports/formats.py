"""A table as bytes: CSV that no spreadsheet runs, Parquet, JSON. Pure; pyarrow is loaded only when it is asked for."""

import csv
import io
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from app.reports.table import Kind, Table

Format = Literal["csv", "parquet", "json"]
Cell = str | int | float | bool | datetime | None
Row = tuple[Cell, ...]

MEDIA_TYPES: dict[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}
# A spreadsheet runs a cell that begins with one of these. Full-width signs count in East Asian settings.
FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def neutral(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would take it for a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def original(text: str) -> str:
    """What `neutral` was given: an apostrophe is taken off only where it put one."""
    return text[1:] if text.startswith("'") and FORMULA.match(text[1:]) else text


def moment(at: datetime) -> str:
    """ISO 8601 in UTC with its offset, always to the microsecond."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def encode(table: Table, rows: Sequence[Row], form: Format, study: str) -> bytes:
    """The table as a file; `study` is the code of the study it is from."""
    if form == "csv":
        return to_csv(table, rows)
    if form == "json":
        return to_json(table, rows, study)
    return to_parquet(table, rows, study)


def to_csv(table: Table, rows: Sequence[Row]) -> bytes:
    """RFC 4180, UTF-8. Texts are always quoted, so that a semicolon never splits one; numbers never are."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([column.name for column in table.columns])
    kinds = [column.kind for column in table.columns]
    writer.writerows([_csv_cell(cell, kind) for cell, kind in zip(row, kinds, strict=True)] for row in rows)
    return out.getvalue().encode()


def _csv_cell(cell: Cell, kind: Kind) -> str | int | float:
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return moment(cell)
    if kind == "yes_no":
        return "true" if cell else "false"
    return neutral(str(cell)) if kind == "text" else cell


def to_json(table: Table, rows: Sequence[Row], study: str) -> bytes:
    """One object: what the table is, and its rows as objects."""
    names = [column.name for column in table.columns]
    found: dict[str, Any] = {"study": study, "table": table.name, "about": table.about}
    if not rows:
        found["warning"] = empty_warning(table)
    found["rows"] = [dict(zip(names, map(_json_cell, row), strict=True)) for row in rows]
    return (json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def _json_cell(cell: Cell) -> str | int | float | bool | None:
    return moment(cell) if isinstance(cell, datetime) else cell


def to_parquet(table: Table, rows: Sequence[Row], study: str) -> bytes:
    """Parquet with types: times are UTC microseconds, what is empty is null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        "text": pa.string(), "whole": pa.int64(), "number": pa.float64(),
        "time": pa.timestamp("us", tz="UTC"), "yes_no": pa.bool_(),
    }  # fmt: skip
    fields = [pa.field(c.name, types[c.kind], metadata={"about": c.about}) for c in table.columns]
    schema = pa.schema(fields, metadata={"study": study, "table": table.name, "about": table.about})
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(fields)]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), out)
    return out.getvalue()


def empty_warning(table: Table) -> str:
    return f"The table {table.name} has no rows: the study has nothing of the kind yet."
