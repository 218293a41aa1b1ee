"""`glance-runner scaling` on checkpoints whose losses are made up, so that the multiplier is known."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model_runner.architecture.config import MLPName
from model_runner.architecture.model import new_model
from model_runner.checkpoint import Checkpoint, save_checkpoint
from model_runner.cli import main
from model_runner.evaluation.document_losses import DOCUMENT_LOSS
from model_runner.evaluation.evaluation import save_evaluation, summary
from model_runner.train.metrics import Metrics, append_metrics
from tests.model_runner.models import record, small_config

WIDTHS = (8, 16, 32, 64, 128)
MULTIPLIER = {"gelu": 1.0, "solu_ln": 1.05, "solu": 0.6}
COURSE = ((400, 1.5), (800, 1.2), (1200, 1.0))
"""Training tokens, and the share of the last loss's distance from 2 nats that is left then."""


def law(size: float) -> float:
    return 2.0 + 3.0 * (size / 1e5) ** -0.2


def make_model(folder: Path, arm: MLPName, width: int, **given: Any) -> Path:
    """A checkpoint whose documents have the losses of a law, its arm worth MULTIPLIER times its size."""
    config = small_config(arm, width=width, layers=1)
    checkpoint = save_checkpoint(folder, new_model(config, 0), record(**{"tokens": 1200, **given}))
    size = config.non_embedding_parameters
    rng = np.random.default_rng(width)
    loss = law(size * MULTIPLIER[arm]) + rng.normal(0, 0.001)
    evaluate_as(folder, checkpoint, loss)
    for step, (tokens, left) in enumerate(COURSE, start=1):
        then = 2.0 + (loss - 2.0) * left
        append_metrics(
            folder,
            Metrics(
                step=step,
                tokens=tokens,
                loss=then,
                val_loss=then,
                learning_rate=0.1,
                gradient_norm=1.0,
                tokens_per_second=1.0,
            ),
        )
    return folder


def evaluate_as(folder: Path, checkpoint: Checkpoint, loss: float, documents: int = 60) -> None:
    rng = np.random.default_rng(1)
    rows = np.zeros(documents, DOCUMENT_LOSS)
    rows["document"] = np.arange(documents)
    rows["tokens"] = rng.integers(50, 300, documents)
    rows["bytes"] = 3 * rows["tokens"]
    hard = rng.normal(0, 0.3, documents)
    hard -= (hard * rows["tokens"]).sum() / rows["tokens"].sum()
    rows["nats"] = (loss + hard) * rows["tokens"]
    save_evaluation(folder, summary(rows, checkpoint, "c"), rows)


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("ladder")
    arms: tuple[MLPName, ...] = ("gelu", "solu_ln", "solu")
    return [str(make_model(folder / f"{arm}-{width}", arm, width)) for arm in arms for width in WIDTHS]


def test_a_ladder_is_compared_drawn_and_written(
    ladder: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scaling", *ladder, "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    whole = json.loads((tmp_path / "out" / "scaling.json").read_text())
    assert json.loads(said.splitlines()[-1]) == whole
    assert whole["law"]["form"] == "floor"
    assert whole["law"]["degrees_of_freedom"] == 2
    assert whole["law"]["floor"] == pytest.approx(2.0, abs=0.1)
    for arm, truth in (("solu_ln", 1.05), ("solu", 0.6)):
        assert whole["pooled"][arm]["low"] < truth < whole["pooled"][arm]["high"]
        assert whole["pooled"][arm]["value"] == pytest.approx(truth, rel=0.02)
    assert "SoLU + LN, pooled over sizes: 1.0" in said
    assert "(extrapolated: no baseline of that size was trained)" in said
    assert [row["extrapolated"] for row in whole["models"] if row["arm"] == "solu"] == [
        True,
        False,
        False,
        False,
        False,
    ]


def test_data_and_pictures_say_the_same(ladder: list[str], tmp_path: Path) -> None:
    assert main(["scaling", *ladder, "--out", str(tmp_path)]) == 0
    whole = json.loads((tmp_path / "scaling.json").read_text())
    with (tmp_path / "scaling.csv").open() as stream:
        table = list(csv.DictReader(stream))
    assert [float(row["loss"]) for row in table] == [row["loss"] for row in whole["models"]]
    assert {row["arm"]: row["multiplier"] for row in table}["gelu"] == ""
    with (tmp_path / "training.csv").open() as stream:
        training = list(csv.DictReader(stream))
    pooled = [row for row in training if row["size"] == "pooled" and row["arm"] == "solu_ln"]
    assert [int(row["tokens"]) for row in pooled] == [400, 800, 1200]
    assert all(float(row["low"]) < 1.05 < float(row["high"]) for row in pooled)
    assert len(training) == 2 * 3 * (len(WIDTHS) + 1)
    for name in ("loss", "multiplier"):
        drawn = (tmp_path / f"{name}.svg").read_text()
        assert drawn.startswith("<svg")
        assert "SoLU + LN" in drawn
        assert (tmp_path / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_four_sizes_carry_a_plain_law(ladder: list[str], tmp_path: Path) -> None:
    four = [folder for folder in ladder if not folder.endswith("-128")]
    assert main(["scaling", *four, "--out", str(tmp_path)]) == 0
    whole = json.loads((tmp_path / "scaling.json").read_text())
    assert (whole["law"]["form"], whole["law"]["degrees_of_freedom"]) == ("plain", 2)


@pytest.mark.parametrize(
    ("kept", "more", "said"),
    [
        (("-8", "-16", "-32"), [], "The baseline has 3 sizes; a law needs at least 4"),
        (("-8", "-16", "-32", "-64"), ["--law", "floor"], "leaves 1 degree of freedom; at least 2 are needed"),
        (("gelu-8", "gelu-16"), [], "Every checkpoint is of 'gelu'; give those of another arm"),
        (("",), ["--seed", "-1"], "--seed is -1; it must be at least 0"),
        (("",), ["--baseline", "legible"], "None of the checkpoints is of 'legible'"),
    ],
)
def test_what_is_refused(
    ladder: list[str],
    tmp_path: Path,
    kept: tuple[str, ...],
    more: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    some = [folder for folder in ladder if folder.endswith(kept)]
    assert main(["scaling", *some, *more, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_unlike_models_are_refused(ladder: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    longer = make_model(tmp_path / "longer", "gelu", 24, tokens=2400)
    assert main(["scaling", *ladder, str(longer), "--out", str(tmp_path / "out")]) == 2
    assert "was trained on 1,200 tokens and" in capsys.readouterr().err
    other = make_model(tmp_path / "other", "gelu", 24)
    checkpoint = save_checkpoint(other, new_model(small_config("gelu", width=24, layers=1), 0), record(tokens=1200))
    evaluate_as(other, checkpoint, 4.0, documents=59)
    assert main(["scaling", *ladder, str(other), "--out", str(tmp_path / "out")]) == 2
    assert "were evaluated on different documents" in capsys.readouterr().err
    (other / "evaluation.json").unlink()
    assert main(["scaling", *ladder, str(other), "--out", str(tmp_path / "out")]) == 2
    assert "is not evaluated yet" in capsys.readouterr().err


def test_a_model_that_is_given_twice_is_refused(
    ladder: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ladder[0], copy)
    for again in (ladder[0], str(copy)):
        assert main(["scaling", *ladder, again, "--out", str(tmp_path / "out")]) == 2
        assert f"{ladder[0]} and {again} are the same model. Give it once." in capsys.readouterr().err
