"""Every arm reads the same batches from the same start, and learns."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from model_runner.architecture.config import MLPName
from model_runner.architecture.model import Transformer
from model_runner.corpus.store import Corpus
from model_runner.evaluation.evaluate import held_out_loss, held_out_stream
from model_runner.train import step as step_of_training
from model_runner.train.batches import pack, read_windows, windows_of_step
from model_runner.train.metrics import read_metrics
from model_runner.train.train import train
from tests.model_runner.models import MLPS, scrambled, small_config, small_training


# Fair between arms
def test_every_arm_reads_the_same_batches(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []

    def spy(loss: object, model: Transformer, optimizer: object, tokens: torch.Tensor, *rest: Any) -> object:
        read.append(tokens.numpy().tobytes())
        return original(loss, model, optimizer, tokens, *rest)  # type: ignore[arg-type]

    original = step_of_training.update
    monkeypatch.setattr(step_of_training, "update", spy)
    for mlp in MLPS:
        train(small_config(mlp), small_training(), corpus, tmp_path / mlp)
    arms = [read[n : n + 8] for n in range(0, 32, 8)]
    assert len(set(arms[0])) == 8
    assert all(arm == arms[0] for arm in arms)


def test_every_arm_has_one_loss_in_the_first_step(corpus: Corpus, tmp_path: Path) -> None:
    losses = set()
    for mlp in MLPS:
        train(small_config(mlp), small_training(tokens=64), corpus, tmp_path / mlp)
        losses.add(read_metrics(tmp_path / mlp)[0].loss)
    assert len(losses) == 1


@pytest.mark.parametrize("mlp", MLPS)
def test_training_learns(corpus: Corpus, tmp_path: Path, mlp: MLPName) -> None:
    config = small_training(tokens=64 * 150, embedding_rate=1e-2, validate_every=50)
    trained = train(small_config(mlp), config, corpus, tmp_path)
    metrics = read_metrics(tmp_path)
    assert metrics[0].loss == pytest.approx(math.log(384), abs=0.3)
    assert trained.train.loss < metrics[0].loss - 1
    assert trained.train.val_loss is not None
    assert trained.train.val_loss < metrics[0].loss - 1


# Held-out loss
def test_the_held_out_loss_is_the_mean_over_its_windows(corpus: Corpus) -> None:
    model = scrambled(small_config())
    stream = held_out_stream(corpus, model.config.context)
    tokens_BT = read_windows(stream, torch.arange(stream.windows).numpy())
    logits_BTV = model(tokens_BT[:, :-1])
    expected = torch.nn.functional.cross_entropy(logits_BTV.flatten(0, 1), tokens_BT[:, 1:].flatten()).item()
    assert held_out_loss(model, stream, stream.length) == pytest.approx(expected, rel=1e-6)
    assert held_out_loss(model, stream, 10**9) == held_out_loss(model, stream, stream.length)


def test_held_out_text_is_not_trained_on(corpus: Corpus) -> None:
    trained_on = set(pack(corpus, "train", 16, 0).sources_N.tolist())
    assert trained_on.isdisjoint(held_out_stream(corpus, 16).sources_N.tolist())


def test_bfloat16_trains_too(corpus: Corpus, tmp_path: Path) -> None:
    rough = train(small_config(), small_training(bf16=True), corpus, tmp_path / "rough")
    exact = train(small_config(), small_training(), corpus, tmp_path / "exact")
    assert rough.train.loss == pytest.approx(exact.train.loss, abs=0.05)
    assert {value.dtype for value in rough.model.state_dict().values()} == {torch.float32}


def test_what_a_step_reads_is_what_its_number_says(corpus: Corpus) -> None:
    stream = pack(corpus, "train", 16, 0)
    windows = windows_of_step(stream, 7, 4)
    assert read_windows(stream, windows).shape == (4, 17)
