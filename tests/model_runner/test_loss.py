# Shape suffixes: N tokens, D model width, V vocabulary.
import math
import shutil

import pytest
import torch
from torch.nn import functional

from model_runner.train import loss
from model_runner.train.loss import BatchLoss, next_token_loss, token_losses
from tests.model_runner.models import random_tokens, scrambled, small_config


@pytest.fixture(params=[1 << 21, 64, 1])
def slices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole batch in one slice, in slices of 4 tokens (the last one shorter), and a token at a time."""
    monkeypatch.setattr(loss, "SLICE_LOGITS", request.param)


def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x_ND = torch.randn(11, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    unembed_VD = torch.randn(16, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    return x_ND, unembed_VD, torch.randint(16, (11,), generator=generator)


@pytest.mark.usefixtures("slices")
def test_loss_and_gradients_are_those_of_cross_entropy() -> None:
    x_ND, unembed_VD, targets_N = (part.float().detach() if part.is_floating_point() else part for part in batch())
    x_ND.requires_grad_(), unembed_VD.requires_grad_()
    ours = next_token_loss(x_ND, unembed_VD, targets_N)
    plain = functional.cross_entropy(x_ND @ unembed_VD.T, targets_N)
    torch.testing.assert_close(ours, plain)
    gradients = torch.autograd.grad(3 * ours, (x_ND, unembed_VD))
    expected = torch.autograd.grad(3 * plain, (x_ND, unembed_VD))
    torch.testing.assert_close(gradients, expected)


@pytest.mark.usefixtures("slices")
def test_losses_of_tokens() -> None:
    x_ND, unembed_VD, targets_N = batch()
    expected = functional.cross_entropy(x_ND @ unembed_VD.T, targets_N, reduction="none")
    torch.testing.assert_close(token_losses(x_ND, unembed_VD, targets_N), expected.detach().float())


def test_knowing_nothing_costs_the_logarithm_of_the_vocabulary() -> None:
    out = next_token_loss(torch.zeros(3, 5), torch.ones(16, 5), torch.tensor([0, 3, 15]))
    assert out.item() == pytest.approx(math.log(16))


def test_enormous_logits_stay_finite() -> None:
    x_ND = torch.full((2, 1), 1e4, requires_grad=True)
    out = next_token_loss(x_ND, torch.tensor([[1.0], [-1.0]]), torch.tensor([0, 1]))
    out.backward()
    assert out.item() == pytest.approx(1e4)
    assert x_ND.grad is not None
    assert torch.isfinite(x_ND.grad).all()


def test_in_bfloat16_it_stays_near() -> None:
    x_ND, unembed_VD, targets_N = (part.float().detach() if part.is_floating_point() else part for part in batch())
    x_ND.requires_grad_()
    plain = next_token_loss(x_ND, unembed_VD, targets_N)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = next_token_loss(x_ND, unembed_VD, targets_N)
    assert rough.item() == pytest.approx(plain.item(), rel=0.02)
    (gradient,) = torch.autograd.grad(rough, x_ND)
    (expected,) = torch.autograd.grad(plain, x_ND)
    torch.testing.assert_close(gradient.float(), expected, atol=0.02, rtol=0.1)


@pytest.mark.slow
# The compiler loads parts of torch that torch itself has deprecated.
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.skipif(shutil.which("c++") is None, reason="torch.compile needs a compiler on a CPU")
@pytest.mark.timeout(900)
def test_compiled_layers_have_the_loss_and_the_gradients_of_those_that_are_not() -> None:
    model = scrambled(small_config("solu_ln", layers=1)).train()
    tokens_BT = random_tokens(model.config, 2, tokens=17)
    found = []
    for compiled in (False, True):
        loss = BatchLoss(model, bf16=False, compiled=compiled)(tokens_BT)
        found.append((loss, *torch.autograd.grad(loss, list(model.parameters()))))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)
