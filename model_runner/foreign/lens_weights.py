"""The state of a TransformerLens model, read, checked against its config, and unfolded into our weights."""

# Shape suffixes: V vocabulary, D model width.
import pickle
import struct
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from model_runner.architecture.config import ModelConfig
from model_runner.checkpoint import read_tensors
from model_runner.errors import RunnerError
from model_runner.foreign.lens_layout import BUFFERS, NORMS, Shapes, from_lens, lens_shapes
from model_runner.weights import refuse_broken, type_name

DAMAGES = (
    *(pickle.UnpicklingError, struct.error, AssertionError, AttributeError, RuntimeError),
    *(EOFError, OSError, ValueError, TypeError, IndexError, KeyError),
)
"""What PyTorch has been seen to raise for a damaged file."""
ROUNDING = 1e-5
"""The share of an unembedding bias that may be left over when it is written as a bias of the norm before it."""


def weight_file(folder: Path) -> Path:
    """The one file with the model's state. Raises RunnerError when there is none, or a choice."""
    found = [path for ending in ("*final.pth", "*.safetensors") for path in sorted(folder.glob(ending))]
    if len(found) != 1:
        said = ", ".join(path.name for path in found) or "none"
        raise RunnerError(f"{folder} should hold one file *final.pth or *.safetensors and holds {said}.")
    return found[0]


def read_state(file: Path) -> dict[str, Tensor]:
    """The tensors of a state, in float32, whatever floating-point type they have there.

    Raises RunnerError when the file is damaged or holds anything else, and for a tensor that is of another type or
    holds NaN or infinite numbers.
    """
    state = _read(file)
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise RunnerError(f"{file} does not hold a table of tensors.")
    weights = {name: value for name, value in state.items() if not name.endswith(BUFFERS)}
    for name, value in weights.items():
        if not value.is_floating_point():
            raise RunnerError(
                f"{file} holds {name} as {type_name(value)}, and weights are floating-point numbers. "
                "Fetch the model as it was before it was quantised."
            )
    floats = {name: value.float() for name, value in weights.items()}
    refuse_broken(floats, file)
    return floats


def _read(file: Path) -> object:
    if file.suffix == ".safetensors":
        return read_tensors(file)
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except DAMAGES as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RunnerError(f"{file} cannot be read as a file of tensors: {reason}. Fetch it again.") from error


def weights_from_state(state: Mapping[str, Tensor], config: ModelConfig, file: Path) -> dict[str, Tensor]:
    """Our weights of a state whose names and shapes are exactly those of its config.

    A model whose LayerNorms are folded into the matrices after them gets gains of one; an unembedding bias,
    which folding leaves, becomes one of the last norm. Raises RunnerError for a tensor that is missing, extra or
    of another shape.
    """
    shapes = lens_shapes(config)
    folded = not any(name.endswith(NORMS) for name in state)
    if folded:
        shapes = {name: shape for name, shape in shapes.items() if not name.endswith(NORMS)}
    _refuse_misfits(state, shapes, file)
    gains = {name: torch.ones(shape) if name.endswith(".w") else torch.zeros(shape) for name, shape in _norms(config)}
    weights = from_lens({**gains, **state}, config)
    bias_V = state.get("unembed.b_U")
    if bias_V is not None and bias_V.any():
        if not folded:
            raise RunnerError(
                f"{file} holds unembed.b_U of shape {tuple(bias_V.shape)}, which is not zero, beside unfolded norms; "
                "our models have no bias of the logits. Fold the norms first."
            )
        norm_bias_D, unembed_DV = _absorb(bias_V, state["unembed.W_U"])
        weights |= {"final_norm.bias": norm_bias_D, "unembed.weight": unembed_DV.T.contiguous()}
    return weights


def _norms(config: ModelConfig) -> list[tuple[str, tuple[int, ...]]]:
    return [(name, shape) for name, shape in lens_shapes(config).items() if name.endswith(NORMS)]


def _refuse_misfits(state: Mapping[str, Tensor], shapes: Shapes, file: Path) -> None:
    missing = sorted(shapes.keys() - state.keys() - {"unembed.b_U"})
    if missing:
        raise RunnerError(f"{file} lacks {missing[0]}, which should be of shape {shapes[missing[0]]}.")
    for name, tensor in state.items():
        if name not in shapes:
            raise RunnerError(f"{file} holds {name} of shape {tuple(tensor.shape)}, which its config has no place for.")
        if tuple(tensor.shape) != shapes[name]:
            raise RunnerError(f"{file} holds {name} of shape {tuple(tensor.shape)}; its config wants {shapes[name]}.")


def _absorb(bias_V: Tensor, unembed_DV: Tensor) -> tuple[Tensor, Tensor]:
    """A bias of the last norm, and an unembedding, that give the logits this bias and this unembedding give.

    Folding made the bias from one of the norm, which is found again where the unembedding is as folding left
    it. Where it was centred afterwards, what is left goes into the unembedding: the norm's numbers sum to zero
    before its bias, so a number added to a token's whole column is felt only times the sum of that bias, one.
    """
    unembed, bias = unembed_DV.double(), bias_V.double()
    solved_D: Tensor = torch.linalg.lstsq(unembed.T, bias[:, None]).solution[:, 0]
    left_V = bias - solved_D @ unembed
    if left_V.abs().max() <= ROUNDING * bias.abs().max():
        return solved_D.float(), unembed_DV
    solved_D = solved_D + (1 - solved_D.sum()) / len(solved_D)
    left_V = bias - solved_D @ unembed
    return solved_D.float(), (unembed + left_V).float()
