"""A real model of other people's, where the benchmark has fetched it: `make bench ONLY=collect-smollm2`."""

# Shape suffixes: B batch, T tokens, D model width, F hidden units.
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.collect_smollm2 import PROMPT, WANTED
from benchmarks.smollm2 import FOLDER, completion
from model_runner.foreign.huggingface import Foreign, load_foreign
from model_runner.foreign.record import FOREIGN

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (FOLDER / "model" / FOREIGN).is_file(), reason=f"the model is not in {FOLDER}"),
]
TOKENS_BT = torch.randint(1000, 40_000, (1, 12), generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def foreign() -> Foreign:
    return load_foreign(FOLDER / "model")


def test_it_is_itself(foreign: Foreign) -> None:
    assert completion(foreign, FOLDER, PROMPT) == WANTED
    about = foreign.about
    assert (about.condition, about.layers, about.hidden, about.size) == ("silu_gated", 30, 1536, 106_168_320)


@pytest.mark.parametrize("layer", [0, 15, 29])
def test_the_matrix_down_of_its_gated_units_is_what_the_mlp_adds(foreign: Foreign, layer: int) -> None:
    mlp = foreign.model.hidden.layers[layer].get_submodule("mlp")
    passed: list[tuple[Tensor, Tensor]] = []
    handle = mlp.register_forward_hook(lambda _, given, added: passed.append((given[0], added)))
    with torch.no_grad():
        acts_BTF = list(foreign.model.activations(TOKENS_BT, layer + 1))[layer]
        passed.clear()
        foreign.model.logits(TOKENS_BT)
        handle.remove()
        ((read_BTD, added_BTD),) = passed
        gate, up, down = (_matrix(mlp, name) for name in ("gate_proj", "up_proj", "down_proj"))
        torch.testing.assert_close(
            acts_BTF, functional.silu(read_BTD @ gate.T) * (read_BTD @ up.T), rtol=1e-4, atol=1e-4
        )
        torch.testing.assert_close(acts_BTF @ down.T, added_BTD, rtol=1e-4, atol=1e-3)


def _matrix(mlp: nn.Module, name: str) -> Tensor:
    assert mlp.get_submodule(name).bias is None
    return mlp.get_submodule(name).get_parameter("weight")
