"""Does this machine compute the right activations? A fixed input's are compared with values stored here.

The stored values are no recording of this code: they were worked out in float64 from the published formulas,
with the error function for `gelu` and with tanh for `gelu_new`, which are two functions under two names. The
tests work them out once more.
"""

# Shape suffixes: N numbers, T tokens, F neurons.
import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import functional

from model_runner.architecture.config import MLPName, ModelConfig
from model_runner.architecture.mlp import MLPS, Solu
from model_runner.architecture.model import Transformer
from model_runner.errors import RunnerError

GOLDEN = Path(__file__).with_name("golden.json")
TOLERANCE = 1e-5
"""A value may differ from the stored one by this, and by this share of it: some thirty times float32's own rounding
here, and a hundredth of what products in TF32 or bfloat16 would differ by."""
TOKENS = (0, 3, 1, 4, 2)
FUNCTIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_new": lambda x_N: functional.gelu(x_N, approximate="tanh"),
    "silu": functional.silu,
    "relu": functional.relu,
    "solu": Solu(),
}
"""Activation functions on their own; those of imported models are among them."""


class Compared(NamedTuple):
    """One number that was worked out here and the one that is right."""

    what: str
    """Which function or model, and where in it."""
    here: float
    right: float

    @property
    def excess(self) -> float:
        """The difference as a share of what is allowed; a NaN is infinitely wrong."""
        allowed = TOLERANCE * (1 + abs(self.right))
        return abs(self.here - self.right) / allowed if math.isfinite(self.here) else math.inf


def check(device: str = "cpu") -> Compared:
    """Compare everything and return the number that is furthest off, which is within the tolerance.

    Raises RunnerError when one is not, with what is wrong and what to do. Takes some milliseconds.
    """
    golden = json.loads(GOLDEN.read_bytes())
    with torch.inference_mode():
        found = [*_functions(golden["functions"], device), *_models(golden["models"], device)]
    worst = max(found, key=lambda one: one.excess)
    if worst.excess > 1:
        raise RunnerError(
            f"This machine computes wrong activations on {device}: {worst.what} is {worst.here:.7g}, and "
            f"{worst.right:.7g} is right, within {TOLERANCE:g}. Install torch {torch.__version__} anew, or the version "
            "that constraints.txt names; unset what lowers its precision, such as TORCH_ALLOW_TF32_CUBLAS_OVERRIDE; "
            "then run `glance-runner self-check`."
        )
    return worst


def _functions(golden: Mapping[str, list[float]], device: str) -> Iterator[Compared]:
    x_N = torch.tensor(golden["x"], device=device)
    for name, function in FUNCTIONS.items():
        for x, here, right in zip(golden["x"], function(x_N).tolist(), golden[name], strict=True):
            yield Compared(f"{name}({x:g})", here, right)


def _models(golden: Mapping[str, list[list[float]]], device: str) -> Iterator[Compared]:
    for name in MLPS:
        acts_TF = tiny_model(name).to(device).activations(torch.tensor([TOKENS], device=device))
        for token, (here_F, right_F) in enumerate(zip(next(acts_TF)[0].tolist(), golden[name], strict=True)):
            for neuron, (here, right) in enumerate(zip(here_F, right_F, strict=True)):
                yield Compared(f"{name} at token {token}, neuron {neuron}", here, right)


def tiny_model(mlp: MLPName) -> Transformer:
    """A model of one layer and sixteen neurons whose weights follow a formula, so that nothing about them is drawn.

    Number i of a tensor is 0.7 sin(i + s), where s is the sum of its name's bytes; gains have 1 added.
    """
    model = Transformer(ModelConfig(vocab_size=5, context=len(TOKENS), heads=1, width=4, mlp=mlp))
    for name, weight in model.state_dict().items():
        weight.copy_(_numbers(name, weight.numel()).view_as(weight))
    return model.eval().requires_grad_(False)


def _numbers(name: str, count: int) -> Tensor:
    shift, base = sum(name.encode()), 1.0 if "norm" in name and name.endswith("weight") else 0.0
    return torch.tensor([base + 0.7 * math.sin(number + shift) for number in range(count)])


def checked_names() -> list[str]:
    """What `check` goes through."""
    return [*cast("Mapping[str, object]", MLPS), *(name for name in FUNCTIONS if name not in MLPS)]
