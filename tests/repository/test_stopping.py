"""Ctrl+C is a wish and no failure: each of our commands says that it stopped, and shows no traceback."""

import pytest

import demo.__main__ as demonstration
from app.cli import main as glance
from app.commands import database


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_the_glance_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(database, "migrate", stop)
    assert glance(["migrate"]) == 130
    assert capsys.readouterr().err == "\nStopped.\n"


def test_the_demonstration(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demonstration, "make_runs", stop)
    assert demonstration.main(["--check"]) == 130
    assert capsys.readouterr().err == "\nStopped. The same command goes on from the last state that was saved.\n"
