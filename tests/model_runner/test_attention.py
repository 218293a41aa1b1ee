"""Local heads read a window and nothing else; far positions of a long context are as causal as near ones."""

# Shape suffixes: B batch, T tokens, D model width, H heads, E head width.
import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from model_runner.architecture.attention import Attention, read_all, read_near
from model_runner.architecture.model import Transformer
from tests.model_runner.models import random_tokens, scrambled, small_config

FAR = 8192


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def touched(model: Transformer, tokens_BT: Tensor, token: int) -> list[int]:
    """The places whose embeddings the last residual of a token depends on."""
    x_BTD = model.embed(tokens_BT).detach().requires_grad_()
    with model.embed.register_forward_hook(lambda *_: x_BTD):
        (gradient_BTD,) = torch.autograd.grad(model.residual(tokens_BT)[0, token].pow(2).sum(), x_BTD)
    return gradient_BTD[0].abs().sum(dim=-1).nonzero().flatten().tolist()


@pytest.mark.parametrize("window", [1, 2, 3, 5, 8, 12])
@pytest.mark.parametrize("tokens", [1, 5, 12])
def test_near_is_attention_under_a_mask(window: int, tokens: int) -> None:
    q_BHTE, k_BHTE, v_BHTE = (draw(2, 3, tokens, 4, seed=seed) for seed in range(3))
    places = torch.arange(tokens)
    distance_TT = places[:, None] - places
    mask_TT = (distance_TT >= 0) & (distance_TT < window)
    expected = functional.scaled_dot_product_attention(q_BHTE, k_BHTE, v_BHTE, attn_mask=mask_TT)
    torch.testing.assert_close(read_near(q_BHTE, k_BHTE, v_BHTE, window), expected)


def test_a_window_of_everything_is_dense_attention() -> None:
    q_BHTE, k_BHTE, v_BHTE = (draw(2, 3, 12, 4, seed=seed) for seed in range(3))
    torch.testing.assert_close(read_near(q_BHTE, k_BHTE, v_BHTE, 12), read_all(q_BHTE, k_BHTE, v_BHTE))


@pytest.mark.parametrize("window", [16, 500])
def test_a_window_of_the_context_changes_no_bit(window: int) -> None:
    dense, local = small_config(), small_config(local_heads=1, local_window=window)
    tokens_BT = random_tokens(dense, 2)
    assert torch.equal(scrambled(local)(tokens_BT), scrambled(dense)(tokens_BT))


@pytest.mark.parametrize("token", [0, 2, 3, 9, 15])
def test_a_layer_of_local_heads_sees_its_window_and_no_more(token: int) -> None:
    model = scrambled(small_config(layers=1, local_heads=2, local_window=3))
    assert touched(model, random_tokens(model.config, 1), token) == list(range(max(0, token - 2), token + 1))


def test_two_layers_of_local_heads_see_two_windows() -> None:
    model = scrambled(small_config(layers=2, local_heads=2, local_window=3))
    assert touched(model, random_tokens(model.config, 1), 12) == list(range(8, 13))


def test_dense_heads_beside_local_ones_see_everything_before() -> None:
    model = scrambled(small_config(layers=1, local_heads=1, local_window=3))
    assert touched(model, random_tokens(model.config, 1), 9) == list(range(10))


def test_only_the_local_heads_are_local() -> None:
    attention = Attention(small_config(local_heads=1, local_window=3)).double()
    with torch.no_grad():
        attention.out.weight.copy_(torch.eye(16))
    x_BTD = draw(1, 16, 16).requires_grad_()
    for head, reach in ((0, 3), (1, 10)):
        (gradient_BTD,) = torch.autograd.grad(attention(x_BTD)[0, 9, head * 8 : head * 8 + 8].sum(), x_BTD)
        assert (gradient_BTD[0].abs().sum(dim=-1) > 0).nonzero().flatten().tolist() == list(range(10 - reach, 10))


@pytest.mark.parametrize(("local_heads", "first"), [(0, 0), (1, 0), (2, FAR - 700)])
def test_a_context_of_8192_is_causal_to_its_end(local_heads: int, first: int) -> None:
    """The last token but one: with dense heads it sees every place before it, with local ones its window."""
    config = small_config(layers=1, context=FAR, local_heads=local_heads, local_window=699)
    model = scrambled(config)
    assert touched(model, random_tokens(config, 1), FAR - 2) == list(range(first, FAR - 1))


def test_rotary_angles_are_exact_at_far_positions() -> None:
    """Float32 angles would be wrong by a thousandth there; products would no longer depend on the distance alone."""
    attention = Attention(small_config(context=FAR))
    assert attention.cosines[FAR - 1, 0].item() == pytest.approx(math.cos(FAR - 1), abs=1e-6)
