"""A training that diverges stops with a sentence and keeps its last state."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from model_runner.architecture.model import Transformer
from model_runner.checkpoint import load_checkpoint
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.train import step as step_of_training
from model_runner.train.metrics import read_metrics
from model_runner.train.step import DIVERGED_NATS, refuse_divergence
from model_runner.train.train import train
from tests.model_runner.models import small_config, small_training


# Diverging
@pytest.mark.parametrize(("loss", "norm"), [(math.nan, 1.0), (math.inf, 1.0), (3.0, math.nan), (9.0, 1.0)])
def test_divergence_is_a_sentence(loss: float, norm: float) -> None:
    with pytest.raises(RunnerError, match=r"The training has diverged: the loss is .* lower learning_rate"):
        refuse_divergence(loss, norm, vocab_size=384)


def test_a_loss_passes_up_to_the_bound() -> None:
    bound = math.log(384) + DIVERGED_NATS
    refuse_divergence(bound, 100.0, vocab_size=384)
    with pytest.raises(RunnerError, match="diverged"):
        refuse_divergence(math.nextafter(bound, math.inf), 100.0, vocab_size=384)


def test_diverging_keeps_the_last_state(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def poisoned(loss: object, model: Transformer, *rest: Any) -> object:
        if len(read_metrics(tmp_path)) == 5:
            with torch.no_grad():
                model.embed.weight[:] = math.nan
        return original(loss, model, *rest)  # type: ignore[arg-type]

    original = step_of_training.update
    with monkeypatch.context() as patch:
        patch.setattr(step_of_training, "update", poisoned)
        with pytest.raises(RunnerError, match="diverged"):
            train(small_config(), small_training(), corpus, tmp_path)
    assert train(small_config(), small_training(), corpus, tmp_path).train.step == 8
    assert all(math.isfinite(line.loss) for line in read_metrics(tmp_path))


def test_a_far_too_high_rate_stops(corpus: Corpus, tmp_path: Path) -> None:
    config = small_training(tokens=64 * 40, learning_rate=1e5, embedding_rate=1e5, clip=1e9)
    with pytest.raises(RunnerError, match="diverged"):
        train(small_config("gelu"), config, corpus, tmp_path)
    with pytest.raises(RunnerError, match="holds no finished checkpoint"):
        load_checkpoint(tmp_path)


def test_a_last_step_that_breaks_the_weights_finishes_nothing(corpus: Corpus, tmp_path: Path) -> None:
    config = small_training(tokens=64, learning_rate=1e30, embedding_rate=1e30)
    with pytest.raises(RunnerError, match="diverged: the held-out loss is nan after step 1"):
        train(small_config("gelu"), config, corpus, tmp_path)
    assert not (tmp_path / "train.json").exists()
    assert read_metrics(tmp_path) == []
