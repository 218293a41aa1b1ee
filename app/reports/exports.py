"""What may leave a study in its present state, as files."""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple
from unicodedata import combining, normalize
from urllib.parse import quote

from sqlalchemy.orm import Session

from app.errors import NotFound, Refused
from app.models import Study, StudyState
from app.reports.formats import Format, Row, empty_warning, encode
from app.reports.row_counts import count_rows
from app.reports.rows import read_rows
from app.reports.seal_file import seal_file
from app.reports.table import Table, asked_for, reached
from app.reports.tables import DICTIONARY, TABLES, dictionary, given_out_in
from app.words.said import N_, Said

FORMATS: tuple[Format, ...] = ("csv", "parquet", "json")
FORMAT = 1
FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # so that the same export is the same bytes


class File(NamedTuple):
    """One file of an export."""

    name: str
    content: bytes


class Export(NamedTuple):
    """One table as a file, with what a person should be told about it."""

    content: bytes
    rows: int
    warning: str
    """Why an empty table is empty; else empty itself."""


def table_of(study: Study, name: str) -> Table:
    """The table as the study's state lets it out. Raises Refused with the sentence that says when it will be."""
    table = TABLES.get(name)
    if table is None:
        raise NotFound
    if not reached(study.state, table.since):
        raise Refused(_not_yet(table))
    if not asked_for(study.design, table.needs):
        raise NotFound
    return table.seen_in(study.state, study.design)


NOT_CLOSED = N_(
    "The table “%(name)s” can be downloaded once the study is closed. "
    "While it is open, only progress can be downloaded."
)
NOT_UNBLINDED = N_(
    "The table “%(name)s” can be downloaded once the study is unblinded. Until then it could give arms away."
)


def _not_yet(table: Table) -> Said:
    return Said(NOT_CLOSED if table.since == StudyState.CLOSED else NOT_UNBLINDED, name=table.name)


def export(session: Session, study: Study, name: str, form: Format) -> Export:
    """One table of the study."""
    table = table_of(study, name)
    rows = read_rows(session, study, table)
    return Export(encode(table, rows, form, study.code), len(rows), "" if rows else empty_warning(table))


class Given(NamedTuple):
    """A line of the page of downloads."""

    table: Table
    rows: int | None
    """None while the table cannot be given out."""
    why_not: str


def overview(session: Session, study: Study) -> list[Given]:
    """Every table of an export, with what it holds now or the sentence that says when it will be given out."""
    return [
        Given(
            table.seen_in(study.state, study.design),
            count_rows(session, study, table),
            "",
        )
        if reached(study.state, table.since)
        else Given(table, None, _not_yet(table))
        for table in TABLES.values()
        if asked_for(study.design, table.needs)
    ]


def files(session: Session, study: Study) -> Iterator[File]:
    """Everything that may leave the study now: every table in every format, the seal, what the columns mean."""
    tables = given_out_in(study.state, study.design)
    for table in tables:
        rows = read_rows(session, study, table)
        yield from _in_every_format(table, rows, study)
    yield from _in_every_format(DICTIONARY, list(dictionary(tables)), study)
    yield File("seal.json", as_json(seal_file(session, study)))


def _in_every_format(table: Table, rows: list[Row], study: Study) -> Iterator[File]:
    for form in FORMATS:
        yield File(f"{table.name}.{form}", encode(table, rows, form, study.code))


def empty_tables(session: Session, study: Study) -> list[str]:
    """A sentence for every table that has no rows and should have some."""
    tables = [table for table in given_out_in(study.state, study.design) if not table.may_be_empty]
    return [empty_warning(table) for table in tables if not count_rows(session, study, table)]


def as_json(thing: dict[str, Any]) -> bytes:
    return (json.dumps(thing, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def zipped(parts: Iterator[File], folder: str) -> bytes:
    """The files in one archive, under a folder; the same files give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in parts:
            archive.writestr(zipfile.ZipInfo(f"{folder}/{part.name}", FIXED_DATE), part.content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def attachment(filename: str) -> dict[str, str]:
    """The header that names a download, for any name (RFC 5987), with a plain fallback."""
    plain, full = plain_name(filename), quote(filename, safe="")
    return {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{full}"}


def plain_name(filename: str) -> str:
    """The name in ASCII: Ünïcödé is Unicode, a name of which no letter is left is “study”."""
    stem, space, what = filename.rpartition(" ")
    return "-".join(filter(None, (_plain(stem) or ("study" if space else ""), _plain(what))))


def _plain(text: str) -> str:
    letters = (letter for letter in normalize("NFKD", text) if not combining(letter))
    return re.sub(r"[^A-Za-z0-9._]+", "-", "".join(letters)).strip("-.")


def file_name(study: Study, what: str) -> str:
    """A study's name and what the file is, without the characters that a file system refuses."""
    name = re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]+', "-", study.name).strip(" -.") or study.code
    return f"{name} {what}"
