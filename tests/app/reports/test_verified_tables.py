"""What an export says raters said is what the log fixed: every answer when it was given, every table at closing."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.cli import main
from app.errors import Conflict
from app.log import FIRST, line_hash
from app.models import CheckAnswer, Guess, PracticeAnswer, Rating, Study, Verdict
from app.reports.exports import files, zipped
from app.reports.verified_tables import verify_tables
from app.settings import Settings
from app.studies.actions import close_study, unblind_study
from app.studies.verifying import verify_export
from tests.app.phases.test_phases import check_all, guess_all, practise, rate_all
from tests.studies import PHASES, make_administrator, make_study, open_rater, phased_runs


@pytest.fixture
def study(client: TestClient, session: Session, settings: Settings) -> Study:
    """One rater went through everything."""
    study = make_study(session, settings, runs=phased_runs(), seats=1, **PHASES)
    open_rater(client, session, study, "=Kim")
    practise(client)
    rate_all(client)
    client.post("/next-part")
    check_all(client)
    guess_all(client)
    session.expire_all()
    return session.get_one(Study, study.id)


def exported(session: Session, settings: Settings, study: Study, folder: Path) -> Path:
    administrator = make_administrator(session)
    close_study(session, study.code, administrator)
    study = unblind_study(session, settings, study.code, administrator, typed_name=study.name, reason="done")
    for file in files(session, study):
        (folder / file.name).write_bytes(file.content)
    return folder


@pytest.fixture
def export(session: Session, settings: Settings, study: Study, tmp_path: Path) -> Path:
    return exported(session, settings, study, tmp_path)


def test_an_export_is_what_the_log_fixed(session: Session, study: Study, export: Path, tmp_path: Path) -> None:
    found = verify_tables(export)
    assert found.faults == []
    assert len(found.good) == 4 + 3  # four tables, and three whose every row is a line of the log
    archive = tmp_path / "all.zip"
    archive.write_bytes(zipped(files(session, session.get_one(Study, study.id)), "all"))
    assert verify_tables(archive) == found
    assert verify_tables(export / "seal.json").good == []


def in_csv(path: Path, column: str, value: str) -> None:
    """Another value in the first row."""
    lines = path.read_text().splitlines()
    names = [name.strip('"') for name in lines[0].split(",")]
    cells = lines[1].split(",")
    cells[names.index(column)] = value
    path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")


def in_json(path: Path, column: str, value: str) -> None:
    table = json.loads(path.read_text())
    table["rows"][0][column] = value
    path.write_text(json.dumps(table))


def in_parquet(path: Path, column: str, value: str) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[0][column] = value
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


@pytest.mark.parametrize(
    ("file", "column", "value", "forge"),
    [
        ("ratings.csv", "verdict", '"NOT_INTERPRETABLE"', in_csv),
        ("ratings.json", "at", "2031-01-01T00:00:00.000000+00:00", in_json),
        ("practice.csv", "verdict", '"CANNOT_DECIDE"', in_csv),
        ("checks.csv", "fires", '"2 4"', in_csv),
        ("checks.parquet", "fires", "2", in_parquet),
        ("guesses.json", "guess", "solu_ln", in_json),
        ("guesses.parquet", "guess", "UNKNOWN", in_parquet),
    ],
)
def test_a_changed_answer_is_found(
    export: Path, file: str, column: str, value: str, forge: Callable[[Path, str, str], None]
) -> None:
    forge(export / file, column, value)
    assert verify_tables(export).faults == [f"{file} is not what was fixed when the study was closed."]


@pytest.mark.parametrize("name", ["ratings", "practice", "checks", "guesses"])
def test_a_row_or_a_table_that_was_left_out_is_found(export: Path, name: str) -> None:
    table = json.loads((export / f"{name}.json").read_text())
    del table["rows"][0]
    (export / f"{name}.json").write_text(json.dumps(table))
    assert verify_tables(export).faults == [f"{name}.json is not what was fixed when the study was closed."]
    for file in export.glob(f"{name}.*"):
        file.unlink()
    assert verify_tables(export).faults == [f"The log says that there is a table {name}, and the export has none."]


@pytest.mark.parametrize(
    ("of", "name", "value", "table"),
    [
        (CheckAnswer, "fires", [2, 4], "checks"),
        (Guess, "condition", "solu_ln", "guesses"),
        (PracticeAnswer, "verdict", Verdict.CANNOT_DECIDE, "practice"),
    ],
)
def test_an_answer_changed_in_the_database_before_closing_is_no_line_of_the_log(
    session: Session, settings: Settings, study: Study, tmp_path: Path, of: type, name: str, value: object, table: str
) -> None:
    setattr(session.scalars(select(of)).first(), name, value)
    found = verify_tables(exported(session, settings, study, tmp_path))
    assert found.faults == [
        f"1 answers of the table {table} are in the log and not in the export.",
        f"1 answers of the table {table} are in the export and not in the log.",
    ]


@pytest.mark.parametrize(
    ("of", "name", "value"),
    [(CheckAnswer, "fires", [2, 4]), (Guess, "condition", None), (PracticeAnswer, "seconds", 1.5), (Rating, "late", 1)],
)
def test_an_answer_changed_after_closing_keeps_the_study_sealed(
    session: Session, settings: Settings, study: Study, of: type, name: str, value: object
) -> None:
    administrator = make_administrator(session)
    close_study(session, study.code, administrator)
    setattr(session.scalars(select(of)).first(), name, value)
    with pytest.raises(Conflict, match="not as it was at closing"):
        unblind_study(session, settings, study.code, administrator, typed_name=study.name, reason="done")


def test_an_export_from_before_answers_were_fixed_verifies_as_it_did(export: Path) -> None:
    """The log as it was written then: nothing of tables at closing, no digest with an answer."""
    events, seal = (json.loads((export / name).read_text()) for name in ("events.json", "seal.json"))
    previous = FIRST
    for line in events["rows"]:
        detail = json.loads(line["detail"])
        detail.pop("tables", None)
        if line["what"] in ("check answered", "condition guessed", "practice answered"):
            del detail["digest"]
        at = datetime.fromisoformat(line["at"])
        line["detail"], line["previous"] = json.dumps(detail), previous
        previous = line["hash"] = line_hash(previous, line["line"], at, line["actor"], line["what"], detail)
    seal["log"]["head"] = previous
    (export / "events.json").write_text(json.dumps(events))
    (export / "seal.json").write_text(json.dumps(seal))
    assert verify_export(export).faults == []
    found = verify_tables(export)
    assert (found.good, found.faults) == ([], [])


@pytest.mark.parametrize("text", ["{}", "[]", "3", '{"record": {}}', '{"root": "0", "record": 3}'])
def test_what_is_no_export_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (tmp_path / "seal.json").write_text(text)
    assert main(["verify", str(tmp_path)]) == 2
    assert "was not understood" in capsys.readouterr().err
