"""Where a foreign model's hidden units can be read: the input of each layer's projection down."""

# Shape suffixes: D model width, F hidden units.
from collections.abc import Iterator
from dataclasses import dataclass

from torch import nn

from model_runner.errors import RunnerError
from model_runner.words import counted

DOWN_NAMES = ("mlp.c_proj", "dense_4h_to_h", "down_proj", "fc2", "fc_out")
"""GPT-2, BigCode, GPT-Neo, Starcoder2 · NeoX, Pythia, Falcon, BLOOM · Llama, Mistral, Qwen, Gemma, OLMo, Phi-3, MPT ·
OPT, Phi, BioGPT, XGLM · GPT-J, CodeGen."""
GATE_NAMES = ("gate_proj", "gate_up_proj")


@dataclass(frozen=True)
class Hidden:
    """The MLPs of a foreign model."""

    layers: nn.ModuleList
    downs: list[nn.Module]
    """The down projection of each layer; its input is what is read."""
    units: int
    """Hidden units of each layer."""
    gated: bool
    """A unit is an activation times a second, linear projection."""


def find_hidden(model: nn.Module, layers: int) -> Hidden:
    """Find the down projections of a causal language model with this many layers.

    Raises RunnerError when a layer has none, or several, or one behind a norm, or when layers differ in their units.
    """
    stack = _layers(model, layers)
    downs = [_down(layer, number) for number, layer in enumerate(stack)]
    sizes = {inputs_of(down) for down in downs}
    if len(sizes) > 1:
        raise RunnerError(
            f"{type(model).__name__} has layers of {', '.join(map(str, sorted(sizes)))} hidden units; "
            "only models whose layers are of one size can be collected."
        )
    gated = any(_is_named(name, GATE_NAMES) for name, _ in stack[0].named_modules())
    return Hidden(stack, downs, sizes.pop(), gated)


def _layers(model: nn.Module, count: int) -> nn.ModuleList:
    lists = (module for module in model.modules() if isinstance(module, nn.ModuleList))
    found = next((module for module in lists if len(module) == count), None)
    if found is None:
        raise RunnerError(
            f"{type(model).__name__} keeps no list of {counted(count, 'layer')}, so it cannot be collected."
        )
    return found


def _down(layer: nn.Module, number: int) -> nn.Module:
    found = dict(_downs(layer))
    if len(found) == 1:
        ((name, down),) = found.items()
        _refuse_norm_between(layer, name, number)
        return down
    said = f"{len(found)} ({', '.join(list(found)[:3])}, …)" if found else "none"
    raise RunnerError(
        f"Layer {number}, a {type(layer).__name__}, should have one projection down from its hidden units and has "
        f"{said}. Known are {', '.join(DOWN_NAMES)}; mixtures of experts cannot be collected."
    )


def _refuse_norm_between(layer: nn.Module, down: str, number: int) -> None:
    """Raise RunnerError where the projection is given normed units: what is read and ranked is what is before."""
    mlp, _, _ = down.rpartition(".")
    norms = [name for name, part in layer.get_submodule(mlp).named_children() if type(part).__name__.endswith("Norm")]
    # Without a module of its own for the MLP, the norms are those of the layer.
    if mlp and norms:
        raise RunnerError(
            f"Layer {number}, a {type(layer).__name__}, norms its hidden units before it projects them down "
            f"({mlp}.{norms[0]}), and they can only be read after. Such a model cannot be collected."
        )


def _downs(layer: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    for name, module in layer.named_modules():
        if _is_named(name, DOWN_NAMES) and getattr(module, "weight", None) is not None:
            yield name, module


def _is_named(name: str, endings: tuple[str, ...]) -> bool:
    return any(name == ending or name.endswith(f".{ending}") for ending in endings)


def inputs_of(down: nn.Module) -> int:
    """How many hidden units a projection reads: its weight is (D, F), and (F, D) in GPT-2's Conv1D."""
    rows, columns = down.get_parameter("weight").shape
    return int(rows if type(down).__name__ == "Conv1D" else columns)
