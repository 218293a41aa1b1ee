"""What is read of a foreign model is what its MLP computes, layer by layer, and changes nothing."""

# Shape suffixes: B batch, T tokens, D model width, F hidden units.
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

from model_runner.errors import RunnerError
from model_runner.foreign.down import find_hidden
from model_runner.foreign.model import ForeignModel
from tests.model_runner.foreign.families import FAMILIES, LAYERS, WIDTH, random_model, reader, tokens_BT

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the library warns of its own old names while it is imported
    import transformers


def caught_outputs(model: nn.Module, modules: list[nn.Module]) -> list[Tensor]:
    """What these modules give in one whole pass."""
    outputs: list[Tensor] = []
    handles = [module.register_forward_hook(lambda *passed: outputs.append(passed[2])) for module in modules]
    with torch.no_grad():
        model(tokens_BT(), use_cache=False)
    for handle in handles:
        handle.remove()
    return outputs


@pytest.mark.parametrize("name", FAMILIES)
def test_the_matrix_down_of_what_is_captured_is_what_the_mlp_adds(name: str) -> None:
    family, model = FAMILIES[name], reader(name)
    layers = list(model.hidden.layers)
    with torch.no_grad():
        captured = list(model.activations(tokens_BT()))
    added = caught_outputs(model.network, [layer.get_submodule(family.mlp) for layer in layers])
    assert [acts_BTF.shape for acts_BTF in captured] == [(2, 7, family.units)] * LAYERS
    for layer, acts_BTF, out_BTD in zip(layers, captured, added, strict=True):
        down = layer.get_submodule(family.down)
        weight, bias = down.get_parameter("weight"), getattr(down, "bias", None)
        weight_FD = weight if name == "gpt2" else weight.T  # GPT-2's Conv1D keeps its matrix the other way round
        by_hand_BTD = torch.einsum("btf,fd->btd", acts_BTF, weight_FD) + (0.0 if bias is None else bias)
        torch.testing.assert_close(by_hand_BTD, out_BTD.reshape(2, 7, WIDTH), rtol=1e-4, atol=1e-5)
        assert out_BTD.abs().max() > 0.01, "a silent MLP would prove nothing"


def test_a_gated_unit_is_the_product_of_activation_and_projection() -> None:
    model = reader("llama")
    mlp = model.hidden.layers[0].get_submodule("mlp")
    read: list[Tensor] = []
    handle = mlp.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    with torch.no_grad():
        (acts_BTF,) = model.activations(tokens_BT(), layers=1)
        handle.remove()
        gate, up = mlp.get_submodule("gate_proj"), mlp.get_submodule("up_proj")
        torch.testing.assert_close(acts_BTF, nn.functional.silu(gate(read[0])) * up(read[0]))


def test_a_gelu_unit_of_neox_uses_the_error_function_and_gpt2_the_tanh() -> None:
    for name, up, approximate in (("neox", "mlp.dense_h_to_4h", "none"), ("gpt2", "mlp.c_fc", "tanh")):
        model = reader(name)
        (pre_BTF,) = caught_outputs(model.network, [model.hidden.layers[0].get_submodule(up)])
        with torch.no_grad():
            (acts_BTF,) = model.activations(tokens_BT(), layers=1)
        torch.testing.assert_close(acts_BTF, nn.functional.gelu(pre_BTF, approximate=approximate))


@pytest.mark.parametrize("name", FAMILIES)
def test_reading_changes_no_logit(name: str) -> None:
    model = reader(name)
    with torch.no_grad():
        before = model.logits(tokens_BT())
        list(model.activations(tokens_BT()))
        list(model.activations(tokens_BT(), layers=1))
        assert torch.equal(model.logits(tokens_BT()), before)


@pytest.mark.parametrize("name", FAMILIES)
def test_threads_that_read_one_model_at_once_do_not_meet(name: str) -> None:
    model, passes = reader(name), 12
    with torch.no_grad():
        alone = [list(model.activations(tokens_BT(), layers=1 + n % 2)) for n in range(passes)]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda n: _read(model, 1 + n % 2), range(passes)))
    for mine, theirs in zip(alone, together, strict=True):
        assert len(mine) == len(theirs)
        assert all(torch.equal(*pair) for pair in zip(mine, theirs, strict=True))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_layer_is_given_away_before_the_next_is_computed(name: str) -> None:
    model, down = reader(name), FAMILIES[name].down
    ran: list[str] = []
    for place, module in model.network.named_modules():
        module.register_forward_hook(lambda *_, place=place: ran.append(place))
    given: list[tuple[int, Tensor, int]] = []
    with torch.no_grad():
        model.read(tokens_BT(), lambda layer, acts: given.append((layer, acts, _projections(ran, down))))
        held = list(model.activations(tokens_BT()))
    assert [(layer, before) for layer, _, before in given] == [(layer, layer) for layer in range(LAYERS)]
    assert all(torch.equal(acts, other) for (_, acts, _), other in zip(given, held, strict=True))


def _projections(ran: list[str], down: str) -> int:
    return sum(place.endswith(f".{down}") for place in ran)


@torch.no_grad()
def _read(model: ForeignModel, layers: int) -> list[Tensor]:
    return list(model.activations(tokens_BT(), layers=layers))


@pytest.mark.parametrize("name", FAMILIES)
def test_nothing_after_the_last_layer_asked_for_is_computed(name: str) -> None:
    model = reader(name)
    ran: list[str] = []
    for place, module in model.network.named_modules():
        module.register_forward_hook(lambda *_, place=place: ran.append(place))
    with torch.no_grad():
        assert len(list(model.activations(tokens_BT(), layers=2))) == 2
    down = FAMILIES[name].down
    assert not any(place.endswith(f".1.{down}") or ".2." in place or "head" in place for place in ran), ran


def test_a_mixture_of_experts_is_refused() -> None:
    config = transformers.MixtralConfig(**{**FAMILIES["llama"].config.to_dict(), "num_local_experts": 2})
    with pytest.raises(RunnerError, match=r"Layer 0, a MixtralDecoderLayer, .* mixtures of experts"):
        find_hidden(random_model(config), LAYERS)


def test_a_norm_between_units_and_projection_is_refused() -> None:
    """BitNet's `ffn_sub_norm`: what the projection is given is not what the units do."""
    config = transformers.BitNetConfig(**{**FAMILIES["llama"].config.to_dict(), "model_type": "bitnet"})
    with pytest.raises(RunnerError, match=r"norms its hidden units before .* \(mlp\.ffn_sub_norm\)"):
        find_hidden(transformers.BitNetForCausalLM(config), LAYERS)


def test_a_model_without_such_a_list_of_layers_is_refused() -> None:
    with pytest.raises(RunnerError, match="GPT2LMHeadModel keeps no list of 5 layers"):
        find_hidden(random_model(FAMILIES["gpt2"].config), 5)


def test_layers_of_different_sizes_are_refused() -> None:
    model = random_model(FAMILIES["llama"].config)
    model.get_submodule("model.layers.1.mlp").down_proj = nn.Linear(41, WIDTH)
    with pytest.raises(RunnerError, match="layers of 40, 41 hidden units"):
        find_hidden(model, LAYERS)
