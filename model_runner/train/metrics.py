"""metrics.jsonl: a line a step."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from model_runner.errors import RunnerError
from model_runner.files import write_atomically
from model_runner.record import Unfit, record_in

METRICS = "metrics.jsonl"


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """One step of training."""

    step: int
    """Steps done, this one counted."""
    tokens: int
    """Training tokens seen, over all ranks."""
    loss: float
    """Of the step's batch before the step, nats a token."""
    val_loss: float | None
    """Held-out loss after the step where it was read, nats a token."""
    learning_rate: float
    """Of the matrices."""
    gradient_norm: float
    """Before clipping."""
    tokens_per_second: float
    """Of this step."""


def append_metrics(folder: Path, metrics: Metrics) -> None:
    """Add one line. Raises RunnerError when it cannot be written."""
    try:
        with (folder / METRICS).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(asdict(metrics)) + "\n")
    except OSError as error:
        raise RunnerError(f"{folder / METRICS} could not be written: {error.strerror}.") from error


def settle_metrics(folder: Path) -> None:
    """Wait until every line is on the disk: a state that counts on them comes after. Raises RunnerError."""
    try:
        with (folder / METRICS).open("ab") as stream:
            os.fsync(stream.fileno())
    except OSError as error:
        raise RunnerError(f"{folder / METRICS} could not be written: {error.strerror}.") from error


def read_metrics(folder: Path) -> list[Metrics]:
    """The steps recorded so far; a last line cut short by a kill is left out.

    Raises RunnerError when a whole line is not what was written.
    """
    if not (folder / METRICS).is_file():
        return []
    lines = (folder / METRICS).read_bytes().split(b"\n")
    # What follows the last line break is empty, or a line that was never finished.
    return [_metrics_of(line, number, folder) for number, line in enumerate(lines[:-1], start=1)]


def forget_metrics_after(folder: Path, step: int) -> None:
    """Drop the lines of steps that a resumed training will do again.

    Raises RunnerError when lines of steps before are missing.
    """
    kept = [metrics for metrics in read_metrics(folder) if metrics.step <= step]
    if [metrics.step for metrics in kept] != list(range(1, step + 1)):
        raise RunnerError(
            f"{folder / METRICS} does not hold the {step} steps that were done. "
            "Restore it from a copy, or train into another folder."
        )
    write_atomically(folder / METRICS, "".join(json.dumps(asdict(metrics)) + "\n" for metrics in kept).encode())


def _metrics_of(line: bytes, number: int, folder: Path) -> Metrics:
    try:
        return record_in(Metrics, line)
    except Unfit as error:
        raise RunnerError(
            f"Line {number} of {folder / METRICS} is damaged: it {error}. Restore it from a copy."
        ) from error
