"""The arrays of a run folder: which there are, their columns, and whether they fit what run.json says of them.

NumPy only, so that the web application can import it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_runner.npy import read_array
from model_runner.run.error import RunFolderError
from model_runner.run.info import INFO_NAME, RunInfo

KINDS = ("neuron", "direction")
STATES = ("ok", "dead", "never_positive", "too_few", "not_finite")
UNIT = np.dtype([("layer", "<i4"), ("kind", "u1"), ("index", "<i4"), ("state", "u1"), ("snippets", "<i4")])
ROW = np.dtype(
    [
        ("at", "<i8"),  # where the snippet's tokens begin in the section's flat arrays
        ("length", "<i4"),
        ("peak", "<i4"),
        ("value", "<f4"),
        ("document", "<i8"),
        ("start", "<i4"),
        ("document_start", "?"),
        ("document_end", "?"),
        ("collapsed", "<i4"),
    ]
)
MOMENTS = np.dtype(
    [
        ("tokens", "<i8"),
        ("mean", "<f8"),
        ("variance", "<f8"),
        ("density", "<f8"),  # share of the tokens above the bin around zero
        ("least", "<f4"),
        ("greatest", "<f4"),
    ]
)
FIXED_ARRAYS = frozenset({"units", "token_bytes", "token_offsets"})
SECTION_ARRAYS = frozenset({"offsets", "snippets", "tokens", "activations"})
SPREAD_ARRAYS = frozenset({"histogram", "histogram_edges", "moments", "band_edges"})
OPTIONAL_SECTION_ARRAYS = frozenset({"after_norm"})
FLAT = ("tokens", "activations", "after_norm")


def map_arrays(folder: Path, info: RunInfo, described: Mapping[str, dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of a run folder by name, memory-mapped, as run.json describes them.

    Raises RunFolderError where one is missing, damaged or not as described, or where they do not fit together.
    """
    _check_names(folder, info, set(described))
    arrays = {name: _map(folder, name, description) for name, description in described.items()}
    _check_lengths(folder, info, arrays)
    return arrays


def _check_names(folder: Path, info: RunInfo, names: set[str]) -> None:
    needed = FIXED_ARRAYS | {f"{section}.{part}" for section in info.sections for part in SECTION_ARRAYS}
    optional = {f"{section}.{part}" for section in info.sections for part in OPTIONAL_SECTION_ARRAYS}
    if names & SPREAD_ARRAYS:
        needed |= SPREAD_ARRAYS
    if missing := needed - names:
        raise RunFolderError(f"{folder / INFO_NAME} does not describe {', '.join(sorted(missing))}.")
    if unknown := names - needed - optional:
        raise RunFolderError(f"{folder} holds {', '.join(sorted(unknown))}, which this program does not know.")


def _map(folder: Path, name: str, description: dict[str, Any]) -> NDArray[Any]:
    """Map one array and compare it with its description; a file too short for its header is refused."""
    path = folder / f"{name}.npy"
    try:
        array = read_array(path)
    except FileNotFoundError:
        raise RunFolderError(f"{path} is missing. Collect the run again.") from None
    except (ValueError, OSError) as error:
        raise RunFolderError(f"{path} is damaged or cut short ({error}). Collect the run again.") from None
    descr, shape = np.lib.format.dtype_to_descr(array.dtype), list(array.shape)
    if shape != description.get("shape") or descr != _descr(description):
        raise RunFolderError(
            f"{path} holds {descr} of shape {shape}, and {INFO_NAME} promises {description.get('dtype')} "
            f"of shape {description.get('shape')}. Collect the run again."
        )
    return array


def _descr(description: dict[str, Any]) -> Any:
    """JSON has no tuples, and NumPy's description of a structured type is a list of them."""
    descr = description.get("dtype")
    return descr if isinstance(descr, str) or descr is None else [tuple(field) for field in descr]


def _check_lengths(folder: Path, info: RunInfo, arrays: Mapping[str, NDArray[Any]]) -> None:
    units = len(arrays["units"])
    expected: dict[str, np.dtype[Any]] = {"units": UNIT}
    for section in info.sections:
        offsets, tokens = arrays[f"{section}.offsets"], arrays[f"{section}.tokens"]
        rows = arrays[f"{section}.snippets"]
        expected[f"{section}.snippets"] = ROW
        flat = [arrays[f"{section}.{part}"] for part in FLAT if f"{section}.{part}" in arrays]
        fits = all(len(array) == len(tokens) for array in flat)
        if len(offsets) != units + 1 or offsets[-1] != len(rows) or not fits:
            raise RunFolderError(f'In {folder}, the arrays of section "{section}" do not fit together.')
    if "histogram" in arrays:
        bins = len(arrays["histogram_edges"]) - 1
        expected["moments"] = MOMENTS
        bands = sum(section.startswith("band-") for section in info.sections)
        shapes = [arrays[name].shape for name in ("histogram", "moments", "band_edges")]
        if shapes != [(units, bins), (units,), (units, bands + 1)]:
            raise RunFolderError(f"In {folder}, the histogram or the bands do not fit their edges or the units.")
    for name, dtype in expected.items():
        if arrays[name].dtype != dtype:
            raise RunFolderError(f"{folder / name}.npy has columns that this program does not know.")
