"""What a library that reads Hugging Face models would pass over in silence: weights that do not fit their config."""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import nn

from model_runner.errors import RunnerError
from model_runner.weights import refuse_broken

FLOATS = ("F16", "BF16", "F32", "F64")
"""Types of a safetensors file that become float32: exactly, but for the last bits of F64."""
LAYER = re.compile(r"\.(\d+)\.")


def refuse_gaps(folder: Path, found: Mapping[str, Collection[Any]], layers: int) -> None:
    """Raise RunnerError where tensors are missing or of another shape, or belong to layers that the config denies.

    `found` is the library's own account. It fills the first with random numbers, and leaves the last away.
    """
    beyond = [str(key) for key in found["unexpected_keys"] if any(int(n) >= layers for n in LAYER.findall(str(key)))]
    for names, said in (
        (found["missing_keys"], "are missing"),
        (found["mismatched_keys"], "are of another shape"),
        (beyond, f"belong to layers past the {layers} that it names"),
    ):
        if names:
            some = ", ".join(sorted(map(_name, names))[:3])
            raise RunnerError(f"The weights in {folder} do not fit its config: {some} {said}. Fetch the model again.")


def _name(key: Any) -> str:
    """Of a mismatched tensor the library gives name and both shapes."""
    return (
        f"{key[0]} {tuple(key[1])}, wanted {tuple(key[2])}," if isinstance(key, tuple) and len(key) == 3 else str(key)
    )


def refuse_odd_types(files: Iterable[Path], network: nn.Module) -> None:
    """Raise RunnerError when a weight in a safetensors file is no floating-point number, such as a quantised one."""
    endings = {name.split(".", 1)[-1] for name, _ in network.named_parameters()}
    for file in files:
        for name, kind in _types(file).items():
            is_weight = name in endings or name.split(".", 1)[-1] in endings
            if is_weight and kind not in FLOATS:
                raise RunnerError(
                    f"{file} holds {name} as {kind}, and weights are read as one of {', '.join(FLOATS)}. "
                    "Fetch the model as it was before it was quantised."
                )


def _types(file: Path) -> dict[str, str]:
    try:
        with safe_open(file, framework="pt") as opened:
            return {name: opened.get_slice(name).get_dtype() for name in opened.keys()}  # noqa: SIM118 - no mapping
    except (SafetensorError, OSError) as error:
        raise RunnerError(f"{file} cannot be read as safetensors: {error}. Fetch it again.") from error


def refuse_broken_model(folder: Path, network: nn.Module) -> None:
    """Raise RunnerError for a weight with NaN or infinite numbers."""
    refuse_broken(dict(network.named_parameters()), folder)
