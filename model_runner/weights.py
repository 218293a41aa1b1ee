"""Tensors on their way from a file into a model: what does not fit, and what is broken, is a sentence."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from model_runner.errors import RunnerError

Shape = tuple[int, ...]


def refuse_misfit(wanted: Mapping[str, Tensor], given: Mapping[str, Tensor], file: Path) -> None:
    """Raise RunnerError for the first tensor, by name, that is missing, extra, of another shape or of another type."""
    for name in sorted(wanted.keys() | given.keys()):
        wrong = _misfit(wanted.get(name), given.get(name))
        if wrong:
            raise RunnerError(
                f"{file} does not fit its config: {name} {wrong}. Restore both from a copy, or make them again."
            )


def _misfit(wanted: Tensor | None, given: Tensor | None) -> str | None:
    """What is wrong with a tensor; None where nothing is, or where neither is there."""
    if given is None:
        return None if wanted is None else f"of shape {tuple(wanted.shape)} is missing"
    if wanted is None:
        return f"of shape {tuple(given.shape)} has no place in it"
    if given.shape != wanted.shape:
        return f"is of shape {tuple(given.shape)}, and {tuple(wanted.shape)} is wanted"
    if given.dtype != wanted.dtype:
        return f"holds {type_name(given)} numbers, and {type_name(wanted)} is wanted"
    return None


def type_name(tensor: Tensor) -> str:
    """float16, bfloat16, int8, …"""
    return str(tensor.dtype).removeprefix("torch.")


def refuse_broken(tensors: Mapping[str, Tensor], file: Path, but: str = "") -> None:
    """Raise RunnerError for the first tensor that holds NaN or infinite numbers.

    Names with `but` in them are passed over, where it is given: what breaks single neurons is collected as such.
    """
    for name, tensor in tensors.items():
        if (but and but in name) or not tensor.is_floating_point():
            continue
        broken = int((~torch.isfinite(tensor)).sum())
        if broken:
            raise RunnerError(
                f"{file} is broken: {broken:,} of the {tensor.numel():,} numbers of {name} are NaN or infinite. "
                "Restore it from a copy, fetch it again, or train again from an earlier state."
            )
