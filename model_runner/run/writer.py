"""Writing a run folder: arrays first, run.json last and by rename, so that a folder with it is complete."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_runner.errors import RunnerError
from model_runner.files import file_digest, why, write_atomically
from model_runner.run.digest import run_digest
from model_runner.run.info import FORMAT, INFO_NAME, RunInfo


@dataclass(frozen=True)
class SectionArrays:
    """One section as it lies on disk; see `run_arrays` for the columns.

    U units, S snippets, N tokens of all snippets.
    """

    offsets: NDArray[np.int64]
    """U + 1: the rows of unit u are [offsets[u], offsets[u + 1])."""
    snippets: NDArray[np.void]
    """S rows of `run_arrays.ROW`, best first within a unit."""
    tokens: NDArray[np.unsignedinteger[Any]]
    """N token ids."""
    activations: NDArray[np.float32]
    """N activations."""
    after_norm: NDArray[np.float32] | None = None
    """N activations after the post-activation LayerNorm, where there is one."""


@dataclass(frozen=True)
class Vocabulary:
    """The bytes of every token, so that text can be shown without a tokenizer."""

    token_bytes: NDArray[np.uint8]
    token_offsets: NDArray[np.int64]
    """V + 1: the bytes of token t are [token_offsets[t], token_offsets[t + 1])."""


@dataclass(frozen=True)
class SpreadArrays:
    """How the activations of U units are spread over B bins."""

    histogram: NDArray[np.int64]
    """(U, B) tokens."""
    histogram_edges: NDArray[np.float32]
    """(B + 1,) ascending."""
    moments: NDArray[np.void]
    """(U,) rows of `run_arrays.MOMENTS`."""
    band_edges: NDArray[np.float32]
    """(U, bands + 1) falling: section "band-b" is at least edge b + 1 and below edge b."""


def write_run(
    folder: Path,
    info: RunInfo,
    units: NDArray[np.void],
    sections: Mapping[str, SectionArrays],
    vocabulary: Vocabulary,
    spread: SpreadArrays | None = None,
) -> RunInfo:
    """Write the folder and return the info with its sections, format and digest filled in.

    Raises RunnerError where the folder cannot be written, ValueError where the info holds a NaN.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / INFO_NAME).unlink(missing_ok=True)
        described = _write_arrays(folder, _named(units, sections, vocabulary, spread))
    except OSError as error:
        raise RunnerError(f"{folder} could not be written: {why(error)}. Make room and run it again.") from error
    info = replace(info, sections=list(sections), format=FORMAT, digest="")
    info = replace(info, digest=run_digest(asdict(info), described))
    text = json.dumps({**asdict(info), "arrays": described}, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(folder / INFO_NAME, f"{text}\n".encode())
    return info


def _named(
    units: NDArray[np.void],
    sections: Mapping[str, SectionArrays],
    vocabulary: Vocabulary,
    spread: SpreadArrays | None,
) -> dict[str, NDArray[Any]]:
    """All arrays by the names of their files."""
    named: dict[str, NDArray[Any]] = {"units": units, **_arrays(vocabulary)}
    for name, section in sections.items():
        named |= {f"{name}.{part}": array for part, array in _arrays(section).items()}
    return named if spread is None else named | _arrays(spread)


def _write_arrays(folder: Path, named: Mapping[str, NDArray[Any]]) -> dict[str, dict[str, Any]]:
    return {name: _write_array(folder / f"{name}.npy", array) for name, array in named.items()}


def _arrays(record: SectionArrays | Vocabulary | SpreadArrays) -> dict[str, NDArray[Any]]:
    """The arrays of a record by name, the absent ones left out."""
    named = ((field.name, getattr(record, field.name)) for field in fields(record))
    return {name: array for name, array in named if array is not None}


def _write_array(path: Path, array: NDArray[Any]) -> dict[str, Any]:
    with path.open("wb") as file:
        np.save(file, array, allow_pickle=False)
        # On the disk before run.json says that the folder is complete.
        file.flush()
        os.fsync(file.fileno())
    return {
        "dtype": np.lib.format.dtype_to_descr(array.dtype),
        "shape": list(array.shape),
        "sha256": file_digest(path),
    }
