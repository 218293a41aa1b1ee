import json

import pytest

from benchmarks import __main__ as command
from benchmarks.outcome import Outcome


def test_each_benchmark_is_one_json_line_and_a_missed_target_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missed = Outcome("slow", 1.2, 1.1, False, {"tokens": 3})
    monkeypatch.setattr(command, "BENCHMARKS", {"slow": lambda: missed})
    assert command.main([]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {
        "name": "slow",
        "ratio": 1.2,
        "target": 1.1,
        "ok": False,
        "detail": {"tokens": 3},
    }


def test_an_unknown_name_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["ONLY=nothing"]) == 2
    assert "'nothing'; there are collect-vs-bare, " in capsys.readouterr().err
