"""The demonstration's study: found again over the same runs, made anew over others."""

from pathlib import Path

import pytest

from demo.study import Made, glance, kept_study
from tests.runs import make_run

ARMS = ("gelu", "solu_ln", "gelu_ln")


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    return [make_run(tmp_path / arm, condition=arm, hidden=16).folder for arm in ARMS]


def made(folder: Path, runs: list[Path]) -> Made:
    return kept_study(folder, runs, [], raters=1, neurons=3)


@pytest.mark.slow
def test_it_is_kept_and_made_anew_over_other_runs(tmp_path: Path, runs: list[Path]) -> None:
    folder = tmp_path / "var"
    folder.mkdir()
    first = made(folder, runs[:2])
    assert first.administrator == "admin"
    assert made(folder, runs[:2]) == first
    second = made(folder, runs)
    assert second.administrator == "admin-2"
    assert second.study != first.study
    assert [line.split("  ")[-1] for line in glance(folder, "study", "list").splitlines()] == [
        "Demonstration-2",
        "Demonstration",
    ]
    assert (folder / "demo.json").stat().st_mode & 0o077 == 0
