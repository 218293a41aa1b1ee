import json
from collections.abc import Callable

import pytest
import torch

from benchmarks import __main__ as command
from benchmarks.outcome import Outcome
from benchmarks.passes import Seconds
from benchmarks.train_vs_plain import PlainModel
from benchmarks.training_turns import in_turns, ratio_of
from model_runner.architecture.config import find_config, read_config
from model_runner.architecture.model import Transformer


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


def test_trainings_are_timed_in_turns_and_each_goes_first_as_often() -> None:
    went: list[tuple[str, int]] = []

    def step(name: str) -> Callable[[int], object]:
        return lambda number: went.append((name, number))

    taken = in_turns({"a": step("a"), "b": step("b")}, rounds=4)
    rounds = [went[n : n + 2] for n in range(0, len(went), 2)]
    assert all({name for name, _ in pair} == {"a", "b"} and len({number for _, number in pair}) == 1 for pair in rounds)
    assert {pair[0][0] for pair in rounds[::2]} != {pair[0][0] for pair in rounds[1::2]}
    # The first rounds warm up and are not counted.
    assert len(rounds) > 4
    assert [len(seconds) for seconds in taken.values()] == [4, 4]


def test_the_ratio_is_that_of_the_median_round() -> None:
    taken = {
        "slow": [Seconds(2.0, 3.0), Seconds(2.2, 3.0), Seconds(90.0, 3.0)],
        "fast": [Seconds(1.0, 2.0), Seconds(1.0, 1.0), Seconds(1.0, 2.0)],
    }
    assert ratio_of(taken, "slow", "fast") == Seconds(2.2, 1.5)


def test_the_plain_loop_has_the_shapes_of_ours() -> None:
    config, _ = read_config(find_config("demo"), {"mlp": "gelu", "vocab_size": 4096}, {})
    ours = Transformer(config)
    plain = PlainModel(4096, config.context, config.width, config.heads, config.layers)
    shapes = sorted(tuple(value.shape) for value in ours.parameters())
    # It learns its positions, which ours turn.
    positions = (config.context, config.width)
    assert sorted(tuple(value.shape) for value in plain.parameters()) == sorted([*shapes, positions])
    assert not plain(torch.zeros(1, 8, dtype=torch.int64)).isnan().any()
