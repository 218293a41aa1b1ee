"""One golden step; which weights learn how fast, and when."""

import math

import pytest
import torch

from model_runner.architecture.model import new_model
from model_runner.train.loss import BatchLoss
from model_runner.train.optimizer import is_matrix, new_optimizer, rate_share
from model_runner.train.step import update
from tests.model_runner.models import random_tokens, scrambled, small_config, small_training


def test_one_golden_step() -> None:
    """AdamW's first step moves a number by its rate, against the gradient's sign, after weight decay."""
    model = scrambled(small_config("gelu")).train()
    config = small_training(clip=1e9, weight_decay=0.1)
    optimizer = new_optimizer(model, config)
    for group in optimizer.param_groups:
        group["lr"] = 1e-3
    tokens_BT = random_tokens(model.config, 2, 17)
    logits_BTV = model(tokens_BT[:, :-1])
    loss = torch.nn.functional.cross_entropy(logits_BTV.flatten(0, 1), tokens_BT[:, 1:].flatten())
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    said, norm = update(BatchLoss(model, bf16=False), model, optimizer, tokens_BT, config)
    assert said == pytest.approx(loss.item(), rel=1e-6)
    assert norm == pytest.approx(math.sqrt(sum(float(g.pow(2).sum()) for g in gradients)), rel=1e-5)
    for (name, after), old, gradient in zip(model.named_parameters(), before, gradients, strict=True):
        decay = 0.1 if is_matrix(name, after) else 0.0
        expected = old * (1 - 1e-3 * decay) - 1e-3 * gradient / (gradient.abs() + 1e-8)
        clear = gradient.abs() > 1e-6
        torch.testing.assert_close(after[clear], expected[clear], atol=2e-6, rtol=0)


def test_which_tensors_are_matrices() -> None:
    model = new_model(small_config("solu_ln", layers=1), 0)
    names = [name for name, value in model.named_parameters() if is_matrix(name, value)]
    assert names == [f"blocks.0.{n}.weight" for n in ("attention.qkv", "attention.out", "mlp.up", "mlp.down")]


def test_the_rate_rises_then_falls() -> None:
    config = small_training(warmup_share=0.1, final_rate=0.1)
    shares = [rate_share(step, 100, config) for step in range(100)]
    assert shares[:10] == pytest.approx([n / 10 for n in range(1, 11)])
    assert max(shares) == shares[9] == shares[10] == 1.0
    assert shares[10:] == sorted(shares[10:], reverse=True)
    assert shares[-1] == pytest.approx(0.1, abs=1e-3)


def test_matrices_learn_slower_in_wider_models() -> None:
    peaks = [
        new_optimizer(new_model(small_config(width=width), 0), small_training()).param_groups for width in (16, 32)
    ]
    assert peaks[0][0]["peak"] == 2 * peaks[1][0]["peak"]
    assert peaks[0][1]["peak"] == peaks[1][1]["peak"]
