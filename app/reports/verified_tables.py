"""What an export's tables say raters said, compared with what the log fixed: while they said it, and at closing."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.errors import Invalid
from app.phases.chained import CHECKED, GUESSED, PRACTISED, answer_digest
from app.reports.reading import FORMATS, Cells, content_of, decode
from app.reports.table import Column, Table
from app.reports.tables import AMENDMENTS, CHECKS, GUESSES, OPENED_EARLY, PRACTICE, RATINGS
from app.studies.said import COLUMNS, digest_of
from app.studies.seal import digest
from app.studies.verifying import EVENTS, Verified

FIXED: dict[str, Table] = {table.name: table for table in (RATINGS, PRACTICE, CHECKS, GUESSES)}
ANSWERS: Mapping[str, tuple[str, str]] = {
    "practice": (PRACTISED, "verdict"), "checks": (CHECKED, "fires"), "guesses": (GUESSED, "guess"),
}  # fmt: skip
"""Of each table, the line of the log that every row of it has, and the column that says the answer."""
ACTS: tuple[tuple[Table, str, Mapping[str, str]], ...] = (
    (AMENDMENTS, "plan amended", {"number": "number", "plan_digest": "plan"}),
    (OPENED_EARLY, "item opened early", {"item": "item", "leaf": "leaf"}),
)
"""Tables of acts, their lines of the log, and which column is which of its particulars."""
Lines = list[dict[str, Any]]


def verify_tables(path: Path) -> Verified:
    """Check a folder or an archive of an unblinded study. An export without a log, or an old one, fixes nothing."""
    found = Verified()
    content = content_of(path, EVENTS) if path.is_dir() or path.suffix == ".zip" else None
    if content is None:
        return found
    lines = _lines(content)
    closed = [json.loads(line["detail"]) for line in lines if line["what"] == "study closed"]
    fixed: dict[str, str] = closed[-1].get("tables", {}) if closed else {}
    for name in (name for name in FIXED if name in fixed):
        table = replace(FIXED[name], columns=_named(FIXED[name], {*COLUMNS[name]}))
        tables = dict(_in_every_format(path, table))
        faults = [
            f"{file} is not what was fixed when the study was closed."
            for file, rows in tables.items()
            if digest_of(name, rows) != fixed[name]
        ]
        if not tables:
            faults = [f"The log says that there is a table {name}, and the export has none."]
        found.note(f"What the table {name} says was said is what closing fixed", faults)
        if name in ANSWERS and tables and not faults:
            rows = next(iter(tables.values()))
            found.note(f"Each answer of the table {name} is a line of the log", _unchained(name, rows, lines))
    found.add(_acts(path, lines))
    return found


def _acts(path: Path, lines: Lines) -> Verified:
    """Amendments and items opened early, each with what its line of the log names. Old exports have no such tables."""
    found = Verified()
    for table, what, columns in ACTS:
        logged = [json.loads(line["detail"]) for line in lines if line["what"] == what]
        written = sorted(tuple(str(detail[column]) for column in columns.values()) for detail in logged)
        tables = dict(_in_every_format(path, replace(table, columns=_named(table, {*columns, "plan"}))))
        faults = [
            f"{file} is not what the log says."
            for file, rows in tables.items()
            if sorted(tuple(str(row[column]) for column in columns) for row in rows) != written
            or any(digest(json.loads(row["plan"])) != row["plan_digest"] for row in rows if "plan" in row)
        ]
        if tables and (written or faults):
            found.note(f"The table {table.name} is what the log says", faults)
    return found


def _lines(content: bytes) -> Lines:
    try:
        found: Lines = json.loads(content)["rows"]
    except (ValueError, KeyError, TypeError) as error:
        raise Invalid(f"{EVENTS} was not understood: {error}.") from None
    return found


def _in_every_format(path: Path, table: Table) -> Iterator[tuple[str, list[Cells]]]:
    """The rows of each file of the table."""
    for form in FORMATS:
        file = f"{table.name}.{form}"
        content = content_of(path, file)
        if content is not None:
            yield file, decode(table, content, form, file)


def _named(table: Table, names: set[str]) -> tuple[Column, ...]:
    return tuple(column for column in table.columns if column.name in names)


def _unchained(name: str, rows: list[Cells], lines: Lines) -> list[str]:
    """Answers without a line, and lines without an answer. An import writes one line for all that it brings back."""
    what, column = ANSWERS[name]
    logged = [json.loads(line["detail"]).get("digest") for line in lines if line["what"] == what]
    if None in logged or any(line["what"] == "ratings imported" for line in lines):
        return []  # begun before answers were chained, or brought back: closing fixed them all the same
    said = Counter(answer_digest(row["rater"], row["item"], row[column] or "") for row in rows)
    lacking, strange = Counter(logged) - said, said - Counter(logged)
    return [
        *([f"{lacking.total()} answers of the table {name} are in the log and not in the export."] if lacking else []),
        *([f"{strange.total()} answers of the table {name} are in the export and not in the log."] if strange else []),
    ]
