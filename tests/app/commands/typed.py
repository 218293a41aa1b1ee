"""The `glance` command as somebody types it."""

import io
import sys
from pathlib import Path

import pytest

from app.cli import main
from tests.studies import two_runs

SMALL = ("--neurons", "4", "--raters", "2", "--overlap", "1")


def glance(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path, typed: str = "") -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    return main([str(argument) for argument in arguments])


def create(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """A study of the two small runs; returns its code, the last line printed."""
    runs = [part for run in two_runs() for part in ("--run", run)]
    assert glance(monkeypatch, "study", "create", "--name", "Winter study", *runs, *SMALL, *more) == 0
    return capsys.readouterr().out.splitlines()[-1]
