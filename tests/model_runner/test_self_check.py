"""The self-check: its stored values are the formulas, what is wrong is found, and what passed is remembered."""

import errno
import json
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from model_runner.architecture.config import MLP_NAMES
from model_runner.architecture.mlp import Solu
from model_runner.cli import main
from model_runner.errors import RunnerError
from model_runner.self_check import cache as self_check_cache
from model_runner.self_check import self_check
from model_runner.self_check.cache import cache_folder, check_once
from model_runner.self_check.self_check import FUNCTIONS, GOLDEN, TOLERANCE, check
from tests.model_runner import golden

STORED: dict[str, Any] = json.loads(GOLDEN.read_bytes())


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder() or tmp_path


def test_the_stored_values_are_the_formulas() -> None:
    worked_out = golden.golden()
    assert worked_out.keys() == STORED.keys()
    for kind in ("functions", "models"):
        assert worked_out[kind].keys() == STORED[kind].keys()
        for name, values in worked_out[kind].items():
            np.testing.assert_allclose(np.array(STORED[kind][name]), np.array(values), rtol=1e-12, atol=1e-14)


def test_every_mlp_and_every_function_has_its_values() -> None:
    assert set(STORED["models"]) == set(MLP_NAMES), "a new MLP's formula belongs into tests/model_runner/golden.py"
    assert set(STORED["functions"]) == {"x", *FUNCTIONS}


def test_this_machine_is_right_and_it_takes_no_time() -> None:
    started = time.process_time()
    assert check().excess <= 1
    assert time.process_time() - started < 1


def test_the_two_gelus_are_told_apart_by_name() -> None:
    x = STORED["functions"]["x"]
    apart = [abs(a - b) for a, b in zip(STORED["functions"]["gelu"], STORED["functions"]["gelu_new"], strict=True)]
    assert max(apart) > 20 * TOLERANCE
    assert golden.gelu(2.0) == pytest.approx(1.9544997361)  # 2 times the normal distribution function at 2
    assert golden.gelu_new(2.0) == pytest.approx(1.9545976651)
    assert STORED["functions"]["gelu"][x.index(2.0)] == pytest.approx(1.9544997361)


@pytest.mark.parametrize(("name", "ours"), [("gelu", "gelu"), ("gelu_new", "gelu_new"), ("silu", "silu")])
def test_the_functions_of_imported_models_have_the_same_names(name: str, ours: str) -> None:
    activations = pytest.importorskip("transformers.activations")
    found = activations.ACT2FN[name](torch.tensor(STORED["functions"]["x"])).tolist()
    assert found == pytest.approx(STORED["functions"][ours], rel=TOLERANCE, abs=TOLERANCE)


def test_another_gelu_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "FUNCTIONS", {**FUNCTIONS, "gelu_new": functional.gelu})
    with pytest.raises(
        RunnerError, match=r"wrong activations on cpu: gelu_new\(-3\) is -0\.00405\d*, and -0\.003637392 is right"
    ):
        check()


@pytest.mark.parametrize(("factor", "said"), [(1.001, "solu"), (math.nan, "is nan")])
def test_a_wrong_or_broken_mlp_is_found(factor: float, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Solu.forward

    def wrong(self: Solu, x: Tensor) -> Tensor:
        return right(self, x) * factor

    monkeypatch.setattr(Solu, "forward", wrong)
    with pytest.raises(RunnerError, match=rf"{said}.* run `glance-runner self-check`"):
        check()


def test_products_of_lower_precision_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    linear = functional.linear

    def rounded(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        return linear(x.bfloat16(), weight.bfloat16(), None if bias is None else bias.bfloat16()).float()

    monkeypatch.setattr(functional, "linear", rounded)
    with pytest.raises(RunnerError, match="wrong activations"):
        check()


# ---- the first run --------------------------------------------------------------------------------


def test_what_passed_is_remembered_for_this_torch_and_processor(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_once() is not None
    assert check_once() is None
    monkeypatch.setattr(torch, "__version__", "9.9.9")
    assert check_once() is not None
    monkeypatch.setattr(self_check_cache, "_processor", lambda: "another one")
    assert check_once() is not None
    assert sorted(json.loads(file.read_text())["torch"] == "9.9.9" for file in cache.iterdir()) == [False, True, True]


def test_a_cache_that_cannot_be_written_only_costs_time(cache: Path) -> None:
    cache.parent.parent.mkdir(parents=True)
    cache.parent.write_text("a file stands in the way")
    assert check_once() is not None
    assert check_once() is not None


def test_a_user_without_a_home_only_loses_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as for a number that no passwd knows
    assert check_once() is not None
    assert not Path("~").exists()


def test_a_home_that_is_closed_to_this_user_only_costs_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(path: Path, **_: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", closed)
        patch.setattr(Path, "mkdir", closed)
        assert check_once() is not None


def test_a_processor_by_number_is_the_processor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["self-check", "--device", "cpu:1"]) == 0
    assert " on cpu," in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "--mlp", "gelu", "--corpus", "nowhere"],
        ["collect", "--checkpoint", "nowhere", "--corpus", "nowhere"],
    ],
)
def test_a_failure_stops_training_and_collecting_and_is_not_remembered(
    arguments: list[str],
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Solu, "forward", lambda _, x: x)
    for _ in range(2):
        assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
        assert "This machine computes wrong activations on cpu: solu" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert not cache.exists()


@pytest.mark.parametrize(
    ("device", "said"),
    [("cuda:99", "CUDA devices, and cuda:99 is none"), ("huge", "no kind of device 'huge'"), ("meta", "not on meta")],
)
@pytest.mark.parametrize("command", ["self-check", "collect --checkpoint nowhere --corpus nowhere --out nowhere"])
def test_a_device_that_is_not_there_is_a_sentence(
    command: str, device: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "--device", device]) == 2
    assert said in capsys.readouterr().err


def test_the_command_says_how_far_off_the_worst_number_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["self-check"]) == 0
    said = capsys.readouterr().out
    assert "gelu, solu, solu_ln, gelu_ln" in said
    assert "gelu_new" in said
    assert f"torch {torch.__version__} on cpu" in said


def test_the_command_fails_with_the_remedy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Solu, "forward", lambda _, x: x)
    assert main(["self-check"]) == 2
    assert "Install torch" in capsys.readouterr().err
