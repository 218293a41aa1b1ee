"""`glance export` and `glance verify`: an export that was tampered with, that is empty, that cannot be written."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.audit_log import record
from app.models import AuditEvent, Study
from app.reports import exports
from app.settings import Settings
from app.store.db import open_engine, transaction
from tests.app.commands.typed import create, glance
from tests.studies import PASSWORD


@pytest.fixture
def exported(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    glance(monkeypatch, "administrator", "add", "Ada", "--password-stdin", typed=f"{PASSWORD}\n")
    study = create(monkeypatch, capsys)
    glance(monkeypatch, "close", study)
    act = ("unblind", study, "--administrator", "Ada", "--reason", "all are in", "--password-stdin")
    assert glance(monkeypatch, *act, typed=f"{PASSWORD}\n") == 0
    glance(monkeypatch, "export", study, "--out", tmp_path / "export")
    capsys.readouterr()
    return tmp_path / "export"


def test_whatever_was_changed_in_an_export_is_found(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verified(change: str, file: str = "seal.json") -> str:
        folder = Path(shutil.copytree(exported, tmp_path / change.replace(" ", "-")))
        content = json.loads((folder / file).read_text(encoding="utf-8"))
        CHANGES[change](content)
        (folder / file).write_text(json.dumps(content), encoding="utf-8")
        assert glance(monkeypatch, "verify", folder) == 1, change
        return capsys.readouterr().out

    assert "× The seal shown is 0000" in verified("another root")
    assert "× Item" in verified("an item of the other arm")
    assert "× The plan is not what was sealed" in verified("a looser plan")
    assert "× The secret draws other items" in verified("another secret")
    assert "× Line 2 of the log" in verified("a name in the log", "events.json")
    assert "× The log ends" in verified("a shorter log", "events.json")
    archive = Path(shutil.make_archive(str(tmp_path / "all"), "zip", exported))
    assert glance(monkeypatch, "verify", archive) == 0
    assert glance(monkeypatch, "verify", exported / "seal.json") == 0


def _other_arm(seal: dict) -> None:  # type: ignore[type-arg]
    item = seal["items"][0]
    item["arm"] = next(arm["name"] for arm in seal["record"]["arms"] if arm["name"] != item["arm"])


CHANGES = {
    "another root": lambda seal: seal.update(root="0" * 64),
    "an item of the other arm": _other_arm,
    "a looser plan": lambda seal: seal["record"]["plan"].update(alpha=0.2),
    "another secret": lambda seal: seal.update(secret="0" * 64),
    "a name in the log": lambda events: events["rows"][1].update(actor="Eve"),
    "a shorter log": lambda events: events["rows"].pop(),
}


def test_a_folder_that_cannot_be_written_is_a_sentence(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert glance(monkeypatch, "migrate") == 0
    study = create(monkeypatch, capsys)
    (tmp_path / "taken").touch()
    assert glance(monkeypatch, "export", study, "--out", tmp_path / "taken") == 2
    assert "taken could not be written" in capsys.readouterr().err


def test_an_export_of_nothing_warns_and_fails_where_that_is_asked_for(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = create(monkeypatch, capsys)
    assert glance(monkeypatch, "close", study) == 0
    assert glance(monkeypatch, "export", study, "--out", tmp_path / "out") == 0
    assert "The table ratings has no rows" in capsys.readouterr().err
    assert (tmp_path / "out" / "ratings.csv").read_text().startswith('"item","rater"')
    assert glance(monkeypatch, "export", study, "--out", tmp_path / "out", "--strict") == 1


def test_raters_go_on_while_an_export_is_made(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = create(monkeypatch, capsys)
    others = open_engine(at_home.database_url)
    made = exports.files

    def slow_files(session: Session, found: Study) -> Iterator[exports.File]:
        with transaction(others) as writing:  # on SQLite it would wait for whoever holds the lock, and give up
            record(writing, "Ada", "signed out")
        return made(session, found)

    monkeypatch.setattr(exports, "files", slow_files)
    assert glance(monkeypatch, "export", study, "--out", tmp_path / "out") == 0
    with transaction(others) as session:
        assert list(session.scalars(select(AuditEvent.what).order_by(AuditEvent.id))) == [
            "signed out",
            "download taken",
        ]
    others.dispose()
