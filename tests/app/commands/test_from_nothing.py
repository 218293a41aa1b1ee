"""The `glance` command, from an empty disk to a verified export."""

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from app.commands import terminal
from app.models import Event, Study, StudyState
from app.models.base import new_code
from app.settings import Settings
from app.store.db import open_engine, transaction
from tests.app.commands.typed import create, glance
from tests.studies import PASSWORD, two_runs


def test_from_nothing_to_a_verified_export(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert glance(monkeypatch, "migrate") == 0
    assert glance(monkeypatch, "administrator", "add", "Ada", "--password-stdin", typed=f"{PASSWORD}\n") == 0
    study = create(monkeypatch, capsys, "--simulated")
    assert glance(monkeypatch, "study", "list") == 0
    assert f"{study}  open       0 of 10 verdicts  Winter study" in capsys.readouterr().out
    assert glance(monkeypatch, "invite", "Winter study", "--name", "Rater A", "--days", "7") == 0
    assert capsys.readouterr().out.startswith("/join/")
    assert glance(monkeypatch, "invite", study, "--name", "Panel", "--reusable", "--most", "3") == 0
    assert glance(monkeypatch, "invite", study, "--name", "Panel 2", "--reusable", "--most", "0") == 2
    assert "from 1 on" in capsys.readouterr().err
    assert glance(monkeypatch, "close", study) == 0
    assert glance(monkeypatch, "reopen", study) == 0
    assert glance(monkeypatch, "close", study) == 0
    act = ("unblind", study, "--administrator", "Ada", "--reason", "all are in", "--password-stdin")
    assert glance(monkeypatch, *act, typed=f"{PASSWORD}\n") == 0
    assert glance(monkeypatch, "export", study, "--out", tmp_path / "export") == 0
    capsys.readouterr()
    assert glance(monkeypatch, "verify", tmp_path / "export") == 0
    assert "×" not in capsys.readouterr().out
    engine = open_engine(at_home.database_url)
    with transaction(engine) as session:
        found = session.scalars(select(Study)).one()
        assert (found.state, found.simulated, found.unblinded_by) == (StudyState.UNBLINDED, True, "Ada")
    engine.dispose()


def test_a_failure_is_a_sentence_and_exit_status_two(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*arguments: str | Path, typed: str = "") -> str:
        assert glance(monkeypatch, *arguments, typed=typed) == 2
        return capsys.readouterr().err

    assert "needs at least" in refused("administrator", "add", "Ada", "--password-stdin", typed="short\n")
    assert "no terminal" in refused("administrator", "add", "Ada")
    assert "no study with the code or the name “Winter”" in refused("close", "Winter")
    run = str(two_runs()[0])
    assert "compares two runs or more" in refused("study", "create", "--name", "Winter", "--run", run)
    assert "no seal.json" in refused("verify", tmp_path)
    assert "cannot be read as an export" in refused("verify", tmp_path / "nowhere.json")
    study = create(monkeypatch, capsys)
    act = ("unblind", study, "--administrator", "Ada", "--reason", "curiosity", "--password-stdin")
    assert "do not fit" in refused(*act, typed="guess\n")
    engine = open_engine(at_home.database_url)
    with transaction(engine) as session:
        events = select(Event.actor, Event.what).order_by(Event.line)
        assert [tuple(row) for row in session.execute(events)][-1] == ("Ada", "unblinding refused")
    engine.dispose()


def test_no_code_looks_like_an_option() -> None:
    assert not any(new_code().startswith("-") for _ in range(1000))


def test_help_is_quick_because_nothing_heavy_is_loaded() -> None:
    heavy = "{'pandas', 'fastapi', 'numpy', 'scipy', 'uvicorn', 'argon2'}"
    code = f"import sys, app.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("['fastapi']", "[]")


@pytest.mark.parametrize("days", ["0", "-3", "99999999999"])
def test_a_link_works_for_a_number_of_days_that_exists(
    at_home: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], days: str
) -> None:
    assert glance(monkeypatch, "invite", "Winter study", "--name", "Rater A", "--days", days) == 2
    assert f"{days} was given" in capsys.readouterr().err


def test_a_link_begins_with_the_prefix_and_a_person_is_told_what_goes_before_it(
    at_home: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert glance(monkeypatch, "migrate") == 0
    study = create(monkeypatch, capsys)
    monkeypatch.setattr(terminal, "get_settings", lambda: at_home.model_copy(update={"root_path": "/glance"}))
    assert glance(monkeypatch, "invite", study, "--name", "Rater A") == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("/glance/join/")
    assert shown.err == ""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert glance(monkeypatch, "invite", study, "--name", "Rater B") == 0
    assert "Put the address that raters know your server by before it" in capsys.readouterr().err
