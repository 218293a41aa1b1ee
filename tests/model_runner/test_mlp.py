# Shape suffixes: B batch, T tokens, D model width, F neurons.
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from model_runner.architecture.mlp import MLPS, BlockNorm, Solu
from tests.model_runner.models import small_config


def solu(*numbers: float) -> Tensor:
    out: Tensor = Solu()(torch.tensor(numbers))
    return out


@pytest.mark.parametrize(
    ("numbers", "exact"),
    [
        # Worked out by hand from x e^x / sum(e^x).
        ((4.0, 1.0, 4.0, 1.0), (2 / (1 + math.exp(-3)), 0.5 / (1 + math.exp(3))) * 2),
        ((4.0, 0.0, 0.0, 0.0), (4 / (1 + 3 * math.exp(-4)), 0.0, 0.0, 0.0)),
        ((1.0, 1.0, 1.0, 1.0), (0.25, 0.25, 0.25, 0.25)),
    ],
)
def test_solu_has_the_values_of_the_paper(numbers: tuple[float, ...], exact: tuple[float, ...]) -> None:
    torch.testing.assert_close(solu(*numbers), torch.tensor(exact), atol=1e-6, rtol=0)


def test_the_first_example_of_the_paper_in_figures() -> None:
    torch.testing.assert_close(
        solu(4.0, 1.0, 4.0, 1.0), torch.tensor((1.9051, 0.0237, 1.9051, 0.0237)), atol=5e-5, rtol=0
    )


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=8))
def test_solu_is_each_number_times_its_softmax(numbers: list[float]) -> None:
    exponentials = [math.exp(number - max(numbers)) for number in numbers]
    expected = [number * part / sum(exponentials) for number, part in zip(numbers, exponentials, strict=True)]
    out = Solu()(torch.tensor(numbers, dtype=torch.float64))
    torch.testing.assert_close(out, torch.tensor(expected, dtype=torch.float64))


def test_solu_of_enormous_numbers_is_finite() -> None:
    torch.testing.assert_close(solu(1e4, -1e4, 0.0), torch.tensor([1e4, 0.0, 0.0]))


def test_solu_has_the_gradient_of_its_formula() -> None:
    x = torch.randn(3, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    assert torch.autograd.gradcheck(Solu(2), (x,))


def test_blocks_compete_only_within_themselves() -> None:
    x_F = torch.randn(8, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(Solu(2)(x_F), torch.cat([Solu()(x_F[:4]), Solu()(x_F[4:])]))


def test_norm_of_blocks_is_a_norm_of_each() -> None:
    x_TF = torch.randn(3, 8, generator=torch.Generator().manual_seed(0))
    norm = BlockNorm(8, 2)
    with torch.no_grad():
        norm.weight.copy_(torch.arange(8.0))
        norm.bias.fill_(0.5)
    halves = [functional.layer_norm(half, (4,)) for half in x_TF.chunk(2, dim=-1)]
    torch.testing.assert_close(norm(x_TF), torch.cat(halves, dim=-1) * torch.arange(8.0) + 0.5)


def test_gelu_is_the_exact_one_and_not_its_tanh_approximation() -> None:
    x = torch.linspace(-4, 4, 81, dtype=torch.float64)
    gelu = MLPS["gelu"](small_config("gelu")).act(x)
    exact = torch.tensor([v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x.tolist()], dtype=torch.float64)
    torch.testing.assert_close(gelu, exact, atol=1e-12, rtol=0)
    assert (gelu - functional.gelu(x, approximate="tanh")).abs().max() > 1e-4


@pytest.mark.parametrize("name", MLPS)
def test_an_mlp_works_on_each_token_alone(name: str) -> None:
    mlp = MLPS[name](small_config(name))
    x_BTD = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(0), requires_grad=True)
    (gradient_BTD,) = torch.autograd.grad(mlp(x_BTD)[1, 3].sum(), x_BTD)
    touched_BT = gradient_BTD.abs().sum(dim=-1) > 0
    assert touched_BT.nonzero().tolist() == [[1, 3]]


@pytest.mark.parametrize("name", MLPS)
def test_an_mlp_writes_what_its_neurons_read(name: str) -> None:
    mlp = MLPS[name](small_config(name))
    x_BTD = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(0))
    caught: list[Tensor] = []
    mlp.act.register_forward_hook(lambda *passed: caught.append(passed[2]))
    out_BTD = mlp(x_BTD)
    assert torch.equal(mlp.write(caught[0]), out_BTD)
    assert torch.equal(mlp.activate(x_BTD), caught[0])


@pytest.mark.parametrize("name", ["solu_ln", "gelu_ln"])
def test_the_norm_comes_after_the_activation_that_is_read(name: str) -> None:
    mlp = MLPS[name](small_config(name))
    acts_F = mlp.activate(torch.randn(16, generator=torch.Generator().manual_seed(0)))
    # Scaling what enters a LayerNorm does not change what leaves it, apart from eps.
    torch.testing.assert_close(mlp.write(acts_F * 1e3), mlp.write(acts_F * 1e4), atol=1e-4, rtol=1e-3)
    assert not torch.allclose(acts_F.mean(), torch.tensor(0.0), atol=1e-6)


@pytest.mark.parametrize("n_blocks", [1, 4])
def test_the_norm_of_single_neurons_is_that_of_all(n_blocks: int) -> None:
    generator = torch.Generator().manual_seed(0)
    norm = BlockNorm(32, n_blocks)
    with torch.no_grad():
        norm.weight.normal_(generator=generator)
        norm.bias.normal_(generator=generator)
        x_BTF = torch.randn(3, 5, 32, generator=generator) * 4 + 1
        rows_E, units_E = torch.tensor([0, 2, 2, 1]), torch.tensor([0, 31, 8, 7])
        single_ET = norm.at(x_BTF[rows_E, :, units_E], norm.moments(x_BTF), rows_E, units_E)
        torch.testing.assert_close(single_ET, norm(x_BTF)[rows_E, :, units_E], rtol=1e-4, atol=1e-5)
