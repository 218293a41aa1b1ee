# Shape suffixes: B batch, T tokens, D model width, H heads, E head width, F neurons, V vocabulary.
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from model_runner.architecture.attention import rotary_angles, rotate
from model_runner.architecture.config import MLPName, PositionName
from model_runner.architecture.model import new_model
from tests.model_runner.models import MLPS, random_tokens, scrambled, small_config


@pytest.mark.parametrize("mlp", MLPS)
def test_no_token_sees_a_later_one(mlp: MLPName) -> None:
    model = scrambled(small_config(mlp))
    tokens_BT = random_tokens(model.config, 1)
    x_BTD = model.embed(tokens_BT).detach().requires_grad_()
    model.embed.register_forward_hook(lambda *_: x_BTD)
    for token in (0, 7, 15):
        (gradient_BTD,) = torch.autograd.grad(model(tokens_BT)[0, token].pow(2).sum(), x_BTD)
        touched_T = gradient_BTD[0].abs().sum(dim=-1) > 0
        assert touched_T.tolist() == [place <= token for place in range(16)]


@pytest.mark.parametrize("mlp", MLPS)
def test_activations_are_those_of_the_full_pass(mlp: MLPName) -> None:
    model = scrambled(small_config(mlp, layers=3))
    tokens_BT = random_tokens(model.config, 3)
    caught: list[Tensor] = []
    for block in model.blocks:
        block.mlp.act.register_forward_hook(lambda *passed: caught.append(passed[2]))
    with torch.no_grad():
        model(tokens_BT)
        full = list(caught)
        early = list(model.activations(tokens_BT))
    assert len(early) == 3
    assert all(torch.equal(one, other) for one, other in zip(early, full, strict=True))


def test_nothing_after_the_last_activation_is_computed() -> None:
    model = scrambled(small_config(layers=3))
    ran: list[str] = []
    for name, module in model.named_modules():
        module.register_forward_hook(lambda *_, name=name: ran.append(name))
    with torch.no_grad():
        acts = list(model.activations(random_tokens(model.config, 1), layers=2))
    assert len(acts) == 2
    assert ran[-1] == "blocks.1.mlp.act"
    assert not any(name.startswith(("blocks.2", "final_norm", "unembed")) for name in ran)


def test_reading_activations_leaves_the_logits_alone() -> None:
    model = scrambled(small_config())
    tokens_BT = random_tokens(model.config, 2)
    with torch.no_grad():
        before_BTV = model(tokens_BT)
        list(model.activations(tokens_BT))
        assert torch.equal(model(tokens_BT), before_BTV)


def test_a_document_alone_and_in_a_batch() -> None:
    model = scrambled(small_config())
    tokens_BT = random_tokens(model.config, 4)
    with torch.no_grad():
        together_BTV = model(tokens_BT)
        for row in range(4):
            torch.testing.assert_close(model(tokens_BT[row : row + 1])[0], together_BTV[row])


def test_in_a_block_of_one_shape_neighbours_change_nothing() -> None:
    model = scrambled(small_config())
    one_BT, other_BT = random_tokens(model.config, 4), random_tokens(model.config, 4, seed=2)
    other_BT[2] = one_BT[2]
    with torch.no_grad():
        acts, other_acts = model.activations(one_BT), model.activations(other_BT)
        assert all(torch.equal(a[2], b[2]) for a, b in zip(acts, other_acts, strict=True))


@pytest.mark.parametrize("positions", ["rotary", "learned"])
def test_a_token_counts_where_it_stands(positions: PositionName) -> None:
    model = scrambled(small_config(positions=positions))
    tokens_BT = random_tokens(model.config, 1)
    swapped_BT = tokens_BT[:, [1, 0, *range(2, 16)]]
    with torch.no_grad():
        assert not torch.allclose(model(tokens_BT)[0, -1], model(swapped_BT)[0, -1], atol=1e-3)


def test_learned_positions_are_added_to_the_embedding_and_nothing_else() -> None:
    model = scrambled(small_config(positions="learned"))
    tokens_BT = random_tokens(model.config, 2, tokens=5)
    added_TD = model.state_dict()["positions.weight"][:5]
    torch.testing.assert_close(model.embedded(tokens_BT), model.embed.weight[tokens_BT] + added_TD)
    rotary = scrambled(small_config())
    rotary.load_state_dict({name: value for name, value in model.state_dict().items() if name != "positions.weight"})
    assert not torch.allclose(rotary(tokens_BT), model(tokens_BT), atol=1e-3)


def test_a_shorter_window_gives_the_same_numbers() -> None:
    model = scrambled(small_config())
    tokens_BT = random_tokens(model.config, 2)
    with torch.no_grad():
        torch.testing.assert_close(model(tokens_BT[:, :9]), model(tokens_BT)[:, :9])


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 20), st.integers(0, 2**30))
def test_rotary_products_depend_on_the_distance_alone(one: int, other: int, shift: int, seed: int) -> None:
    cosines, sines = rotary_angles(64, 8, 10_000.0)
    q_E, k_E = torch.randn(2, 1, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)

    def product(q_at: int, k_at: int) -> Tensor:
        q = rotate(q_E, cosines[q_at].double(), sines[q_at].double())
        return (q * rotate(k_E, cosines[k_at].double(), sines[k_at].double())).sum()

    torch.testing.assert_close(product(one, other), product(one + shift, other + shift), atol=1e-5, rtol=0)


def test_rotary_positions_do_count() -> None:
    cosines, sines = rotary_angles(4, 8, 10_000.0)
    x_E = torch.ones(1, 8)
    assert torch.equal(rotate(x_E, cosines[0], sines[0]), x_E)
    assert not torch.allclose(rotate(x_E, cosines[1], sines[1]), x_E, atol=0.1)


def test_arms_share_their_initial_weights() -> None:
    arms = [new_model(small_config(mlp), seed=5).state_dict() for mlp in MLPS]
    shared = set.intersection(*(set(weights) for weights in arms))
    assert {"embed.weight", "blocks.1.mlp.up.weight", "blocks.1.mlp.down.bias", "unembed.weight"} <= shared
    for name in shared:
        assert all(torch.equal(weights[name], arms[0][name]) for weights in arms)
    assert set(arms[2]) - shared == {f"blocks.{n}.mlp.norm.{kind}" for n in (0, 1) for kind in ("weight", "bias")}


def test_arms_begin_as_one_function() -> None:
    tokens_BT = random_tokens(small_config(), 2)
    first, *others = (new_model(small_config(mlp), seed=5)(tokens_BT) for mlp in MLPS)
    assert all(torch.equal(first, other) for other in others)


def test_another_seed_gives_other_weights() -> None:
    one, other = (new_model(small_config(), seed).embed.weight for seed in (1, 2))
    assert not torch.equal(one, other)


def test_every_tensor_takes_part_once_trained() -> None:
    model = scrambled(small_config()).train()
    model(random_tokens(model.config, 2)).pow(2).sum().backward()
    silent = [name for name, value in model.named_parameters() if value.grad is None or not value.grad.any()]
    assert silent == []


def test_a_new_model_does_not_touch_the_global_random_numbers() -> None:
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    new_model(small_config(), 0)
    assert torch.equal(torch.rand(1), expected)
