"""Writing a run folder: arrays first, run.json last and by rename, so that a folder with it is complete."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_runner.run_folder import FORMAT, INFO_NAME, RunInfo


@dataclass(frozen=True)
class SectionArrays:
    """One section as it lies on disk; see `run_folder` for the columns.

    U units, S snippets, N tokens of all snippets.
    """

    offsets: NDArray[np.int64]
    """U + 1: the rows of unit u are [offsets[u], offsets[u + 1])."""
    snippets: NDArray[np.void]
    """S rows of `run_folder.ROW`, best first within a unit."""
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


def write_run(
    folder: Path,
    info: RunInfo,
    units: NDArray[np.void],
    sections: Mapping[str, SectionArrays],
    vocabulary: Vocabulary,
) -> RunInfo:
    """Write the folder and return the info with its sections, format and digest filled in.

    Raises OSError where the folder cannot be written, ValueError where the info holds a NaN.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / INFO_NAME).unlink(missing_ok=True)
    arrays: dict[str, NDArray[Any]] = {"units": units, **asdict_arrays(vocabulary)}
    for name, section in sections.items():
        arrays |= {f"{name}.{part}": array for part, array in asdict_arrays(section).items()}
    described = {name: _write_array(folder / f"{name}.npy", array) for name, array in arrays.items()}
    info = replace(info, sections=list(sections), format=FORMAT, digest="")
    info = replace(info, digest=_digest(info, described))
    write_json(folder / INFO_NAME, {**asdict(info), "arrays": described})
    return info


def asdict_arrays(record: SectionArrays | Vocabulary) -> dict[str, NDArray[Any]]:
    """The arrays of a record by name, without copying them and without the absent ones."""
    if isinstance(record, Vocabulary):
        return {"token_bytes": record.token_bytes, "token_offsets": record.token_offsets}
    named = {
        "offsets": record.offsets,
        "snippets": record.snippets,
        "tokens": record.tokens,
        "activations": record.activations,
    }
    return named if record.after_norm is None else {**named, "after_norm": record.after_norm}


def _write_array(path: Path, array: NDArray[Any]) -> dict[str, Any]:
    np.save(path, array, allow_pickle=False)
    return {
        "dtype": np.lib.format.dtype_to_descr(array.dtype),
        "shape": list(array.shape),
        "sha256": file_digest(path),
    }


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(info: RunInfo, described: Mapping[str, Any]) -> str:
    text = json.dumps({**asdict(info), "arrays": described}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file so that it is there whole or not at all. NaN is refused with a ValueError."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    partial = path.with_suffix(".json.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
