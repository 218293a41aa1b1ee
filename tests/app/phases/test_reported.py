"""What raters said before and after rating: in the exports, brought back, and in the report."""

import json
import zipfile
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app import clock
from app.models import CheckAnswer, Guess, Item, ItemKind, PracticeAnswer, Rater, RaterPhase, Seat, Study, StudyState
from app.reports.actions import import_ratings
from app.reports.exports import files
from app.reports.seal_file import seal_file
from app.settings import Settings
from app.studies.actions import close_study, unblind_study
from app.studies.plans import amend_plan
from app.studies.verifying import verify_export
from tests.app.phases.test_phases import check_all, guess_all, practise, rate_all
from tests.app.rated import counted_unlike_read
from tests.studies import PHASES, make_administrator, make_study, open_rater, phased_runs, sign_in

FORMATS = ("csv", "parquet", "json")


SELDOM = tuple(range(0, 24, 2))
"""Neurons of the second model that have too few held-out snippets."""


@pytest.fixture
def study(client: TestClient, session: Session, settings: Settings) -> Study:
    """Two raters went through everything."""
    study = make_study(session, settings, runs=phased_runs(SELDOM), seats=2, **PHASES)
    for name, guess in (("Kim", "gelu"), ("Lou", "UNKNOWN")):
        client.cookies.clear()
        open_rater(client, session, study, name)
        practise(client)
        rate_all(client)
        client.post("/next-part")
        check_all(client)
        guess_all(client, guess)
    client.cookies.clear()
    session.expire_all()
    return session.get_one(Study, study.id)


def exported(session: Session, study: Study, folder: Path) -> dict[str, bytes]:
    study.state, study.closed_at = StudyState.CLOSED, clock.now()
    session.flush()
    found = {file.name: file.content for file in files(session, study) if not file.name.startswith("seal")}
    for name, content in found.items():
        (folder / name).write_bytes(content)
    study.state, study.closed_at = StudyState.OPEN, None
    session.flush()
    return found


def unblinded(session: Session, settings: Settings, study: Study) -> Study:
    administrator = make_administrator(session)
    close_study(session, study.code, administrator)
    return unblind_study(session, settings, study.code, administrator, typed_name=study.name, reason="done")


@pytest.mark.parametrize("form", FORMATS)
def test_export_import_export_gives_the_same_bytes(session: Session, study: Study, tmp_path: Path, form: str) -> None:
    before = exported(session, study, tmp_path)
    for seat in session.scalars(select(Seat).where(Seat.study_id == study.id)):
        seat.rater_id = None
    session.flush()
    session.execute(delete(Rater).where(Rater.study_id == study.id))
    session.expire_all()
    for file in tmp_path.iterdir():
        if file.suffix != f".{form}":
            file.unlink()
    found = import_ratings(session, study, tmp_path, "Ada")
    answers = sum(len(session.scalars(select(of)).all()) for of in (PracticeAnswer, CheckAnswer, Guess))
    assert counted_unlike_read(session, study) == []
    assert found.answers == answers > 2 * PHASES["practice_items"] + 2 * PHASES["guesses"]
    assert exported(session, study, tmp_path) == before
    assert set(session.scalars(select(Rater.phase))) == {RaterPhase.DONE}
    assert import_ratings(session, study, tmp_path, "Ada").answers == 0


def test_before_unblinding_nothing_says_which_snippets_fire(session: Session, study: Study, tmp_path: Path) -> None:
    rows = json.loads(exported(session, study, tmp_path)["checks.json"])["rows"]
    assert rows
    assert set(rows[0]) == {"rater", "item", "about", "fires", "at", "seconds"}


def test_the_seal_of_practice_and_checks_is_verified(
    session: Session, settings: Settings, study: Study, tmp_path: Path
) -> None:
    study = unblinded(session, settings, study)
    for file in files(session, study):
        (tmp_path / file.name).write_bytes(file.content)
    assert verify_export(tmp_path).faults == []
    seal = json.loads((tmp_path / "seal.json").read_text())
    lesson = next(iter(seal["record"]["lessons"].values()))
    lesson["verdict"] = "CANNOT_DECIDE"
    (tmp_path / "seal.json").write_text(json.dumps(seal))
    assert verify_export(tmp_path).faults == ["What practice teaches is not what was sealed."]
    bands = [row["bands"] for row in json.loads((tmp_path / "checks.json").read_text())["rows"]]
    assert {tuple(sorted(band.split())) for band in bands} == {("0", "1", "2", "3", "4", "5", "5", "5", "5", "5")}


def test_the_report_says_what_was_foretold_and_guessed(
    client: TestClient, session: Session, settings: Settings, study: Study
) -> None:
    study = unblinded(session, settings, study)
    sign_in(client, session, make_administrator(session, "Bob"))
    page = client.get(f"/studies/{study.code}/report")
    assert page.status_code == 200
    assert "Hypothesis check" in page.text
    assert "Bang’s index" in page.text
    report = client.get(f"/studies/{study.code}/report.json").json()["analysis"]
    assert [row["condition"] for row in report["check"]["conditions"]] == ["gelu", "solu_ln"]
    for row in report["check"]["conditions"]:
        assert {band["band"] for band in row["bands"]} == {0, 1, 2, 3, 4, 5}
    gelu, solu = report["blinding"]["conditions"]
    assert gelu["right"] + solu["wrong"] == 3
    assert gelu["unknown"] + solu["unknown"] == 3
    archive = client.get(f"/studies/{study.code}/exports/everything.zip")
    names = {Path(name).name for name in zipfile.ZipFile(BytesIO(archive.content)).namelist()}
    assert {"practice.csv", "checks.csv", "guesses.csv"} <= names


def test_the_report_counts_the_neurons_of_each_arm_that_could_not_be_checked(
    client: TestClient, session: Session, settings: Settings, study: Study
) -> None:
    """The expected counts are read from the seal: an item a neuron, and of some of them one on held-out text."""
    study = unblinded(session, settings, study)
    record = seal_file(session, study)
    arm_of = {item["code"]: item["arm"] for item in record["items"]}
    kinds = dict(session.execute(select(Item.code, Item.kind).where(Item.study_id == study.id)).all())
    shown = Counter(arm_of[code] for code, kind in kinds.items() if kind is ItemKind.NEURON)
    checks = Counter(arm_of[code] for code, kind in kinds.items() if kind is ItemKind.CHECK)
    assert shown["quillfeather"] == checks["quillfeather"]
    assert shown["marzipan"] > checks["marzipan"] > 0
    sign_in(client, session, make_administrator(session, "Bob"))
    found = client.get(f"/studies/{study.code}/report.json").json()["flow"]["checks"]
    assert {row["arm"]: (row["shown"], row["without"]) for row in found} == {
        arm: (n, n - checks[arm]) for arm, n in shown.items()
    }
    for row in found:  # both raters said yes to every neuron and went through every check
        assert row["called"] == row["checked"] == row["shown"] - row["without"]
    page = client.get(f"/studies/{study.code}/report").text
    assert "Which neurons could be checked, by arm." in page
    assert f"{sum(shown.values()) - sum(checks.values())} without: too few held-out snippets" in page


def test_answers_of_a_rater_who_is_left_out_enter_neither_check_nor_guesses(
    client: TestClient, session: Session, settings: Settings, study: Study
) -> None:
    lou = session.scalars(select(Rater).where(Rater.name == "Lou")).one()
    amend_plan(session, study.code, make_administrator(session, "Eve"), {"excluded_raters": lou.code}, "was asleep")
    study = unblinded(session, settings, study)
    sign_in(client, session, make_administrator(session, "Bob"))
    report = client.get(f"/studies/{study.code}/report.json").json()
    for row in report["analysis"]["blinding"]["conditions"]:
        assert row["unknown"] == 0, "Lou guessed nothing but UNKNOWN"
    kim = session.scalars(select(func.count()).select_from(CheckAnswer).join(Rater).where(Rater.name == "Kim")).one()
    assert sum(row["answers"] for row in report["analysis"]["check"]["conditions"]) == kim
