"""`glance study amend` and `glance open-item`."""

from pathlib import Path

import pytest
from sqlalchemy import select

from app.commands import terminal
from app.models import Item
from app.settings import Settings
from app.store.db import open_engine, transaction
from tests.app.commands.typed import create, glance
from tests.studies import PASSWORD


def test_a_code_that_begins_with_a_dash_is_no_option(
    at_home: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    act = ("open-item", "nothing", "-bcdefghijklmnop", "--administrator", "Ada", "--reason", "so", "--password-stdin")
    assert glance(monkeypatch, *act, typed=f"{PASSWORD}\n") == 2
    assert "There is no study with the code or the name “nothing”" in capsys.readouterr().err


def test_the_commands_amend_and_open(
    at_home: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert glance(monkeypatch, "migrate") == 0
    assert glance(monkeypatch, "administrator", "add", "Ada", "--password-stdin", typed=f"{PASSWORD}\n") == 0
    study = create(monkeypatch, capsys)
    amend = ("study", "amend", study, "--set", "alpha=0.01", "--set", "late_counts=no", "--reason", "as agreed")
    assert glance(monkeypatch, *amend) == 0
    assert "Amendment 1 is written down, after 0 verdicts." in capsys.readouterr().out
    assert glance(monkeypatch, "study", "amend", study, "--set", "alpha", "--reason", "as agreed") == 2
    assert "FIELD=VALUE" in capsys.readouterr().err
    engine = open_engine(at_home.database_url)
    with transaction(engine) as session:
        item = session.scalars(select(Item.code)).all()[0]
    engine.dispose()
    act = ("open-item", study, item, "--administrator", "Ada", "--reason", "it frightens", "--password-stdin")
    assert glance(monkeypatch, *act, typed=f"{PASSWORD}\n") == 0
    (tmp_path / "one.json").write_text(capsys.readouterr().out.splitlines()[-1])
    assert glance(monkeypatch, "verify", tmp_path / "one.json") == 0
    assert terminal.ACTOR == "the command line"
