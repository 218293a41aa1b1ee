"""Files that are either whole or not there."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from model_runner.errors import RunnerError

PIECE_BYTES = 1 << 20


def write_atomically(file: Path, content: bytes) -> None:
    """Write beside the file, then rename: whoever is killed in between leaves the old file as it was.

    Raises RunnerError when the disk is full or the folder cannot be written.
    """
    beside = file.with_name(file.name + ".part")
    try:
        with beside.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise RunnerError(
            f"{file} could not be written: {error.strerror}. What was there before is kept. "
            "Make room or choose another folder, and run it again."
        ) from error


def why(error: OSError) -> str:
    """The system's reason in words. Where NumPy could not write an array to its end there are only its two numbers."""
    return error.strerror or f"the disk took no more ({error})"


def make_folder(folder: Path) -> None:
    """Make a folder and those above it where they are missing. Raises RunnerError when that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunnerError(f"The folder {folder} could not be made: {error.strerror}. Give another.") from error


def remove(file: Path) -> None:
    """Remove a file where it is there; a read-only folder without it is left in peace. Raises RunnerError."""
    try:
        if file.exists():
            file.unlink(missing_ok=True)
    except OSError as error:
        raise RunnerError(
            f"{file} could not be removed: {error.strerror}. Give another folder, or one that can be written."
        ) from error


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """Write one JSON object, whole or not at all."""
    write_atomically(file, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def read_json(file: Path) -> dict[str, Any]:
    """Read one JSON object. Raises RunnerError when the file is missing, damaged or something else."""
    try:
        value = json.loads(file.read_bytes())
    except OSError as error:
        raise RunnerError(
            f"{file} could not be read: {error.strerror}. Restore it from a copy or make it again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise RunnerError(f"{file} is damaged: {error}. Restore it from a copy or make it again.") from error
    if not isinstance(value, dict):
        raise RunnerError(f"{file} does not hold a JSON object. Restore it from a copy or make it again.")
    return value


def file_digest(file: Path, advance: Callable[[int], None] = lambda _: None) -> str:
    """SHA-256 of a file's bytes, in hexadecimal; `advance` hears how many more were read.

    Raises RunnerError when it cannot be read.
    """
    total = hashlib.sha256()
    try:
        with file.open("rb", buffering=0) as stream:
            while piece := stream.read(PIECE_BYTES):
                total.update(piece)
                advance(len(piece))
    except OSError as error:
        raise RunnerError(
            f"{file} could not be read: {error.strerror}. Restore it from a copy or make it again."
        ) from error
    return total.hexdigest()
