"""The self-check on a machine's first run: what passed is remembered, so that later runs do not wait for it."""

import hashlib
import json
import os
import platform
from contextlib import suppress
from pathlib import Path

import torch

from model_runner.errors import RunnerError
from model_runner.files import make_folder, write_json
from model_runner.ranks import usable
from model_runner.self_check.self_check import GOLDEN, Compared, check


def check_once(device: str = "cpu", folder: Path | None = None) -> Compared | None:
    """Check this machine, unless it passed before; then None. A failure is never remembered.

    `folder` is where it is remembered, else `cache_folder()`. Where that cannot be written, each run checks.
    Raises RunnerError when the activations are wrong, or there is no such device; nothing has been trained or
    collected then.
    """
    said, folder = machine(str(usable(device))), folder or cache_folder()
    passed = folder / f"{_digest(said)}.json" if folder else None
    if passed and _is_there(passed):
        return None
    worst = check(device)
    if passed:
        with suppress(RunnerError):
            make_folder(passed.parent)
            write_json(passed, {**said, "furthest_off": worst.what, "share_of_tolerance": round(worst.excess, 4)})
    return worst


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # A home that is somebody else's, as in a container under another user
        return False


def cache_folder() -> Path | None:
    """$XDG_CACHE_HOME/glance/self-check, which is ~/.cache/glance/self-check where that is not set.

    None for a user without a home.
    """
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "glance", "self-check")
    except RuntimeError:
        return None


def machine(device: str = "cpu") -> dict[str, str]:
    """What the result depends on: torch, the processor and its instructions, the device, and the stored values."""
    return {
        "torch": torch.__version__,
        "processor": _processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "device": device if device == "cpu" else f"{device} {torch.cuda.get_device_name(device)}",
        "matrix_products": torch.get_float32_matmul_precision(),
        "values": hashlib.sha256(GOLDEN.read_bytes()).hexdigest(),
    }


def _processor() -> str:
    """Its name: `platform` knows it on few systems, Linux tells it in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def _digest(said: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]
