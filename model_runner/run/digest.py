"""What a run folder's digest stands for: every byte of it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model_runner.files import file_digest


def run_digest(info: Mapping[str, Any], described: Mapping[str, Any]) -> str:
    """SHA-256 over everything in run.json except the digest itself."""
    text = json.dumps({**info, "digest": "", "arrays": described}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def first_change(folder: Path, info: Mapping[str, Any], described: Mapping[str, Any]) -> str | None:
    """The name of a file that is not what the digest stands for; None if all are. Reads the whole folder."""
    for name, description in described.items():
        if file_digest(folder / f"{name}.npy") != description.get("sha256"):
            return f"{name}.npy"
    return "run.json" if run_digest(info, described) != info["digest"] else None
