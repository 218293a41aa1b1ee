"""From nothing to run folders: corpus, one model an arm, and what excites its neurons."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from demo.places import CHECKPOINTS, CORPUS, RUNS, TIMES


def run(module: str, *arguments: str | Path) -> None:
    """Run one of our commands; its sentence is on the screen when it fails."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    if code := subprocess.run(command, check=False).returncode:  # noqa: S603  # our own commands
        raise SystemExit(code)


def make_runs(arms: Sequence[str]) -> list[Path]:
    """The run folder of each arm. What an earlier call finished is reused by the commands themselves."""
    _timed("corpus", CORPUS / "corpus.json", "corpus", "--out", CORPUS)
    for arm in arms:
        checkpoint, folder = CHECKPOINTS / arm, RUNS / arm
        where = ("--config", "demo", "--mlp", arm, "--corpus", CORPUS, "--out", checkpoint)
        _timed(f"train {arm}", None, "train", *where)
        what = ("--checkpoint", checkpoint, "--corpus", CORPUS, "--out", folder)
        _timed(f"collect {arm}", None, "collect", *what)
    return [RUNS / arm for arm in arms]


def make_other_runs(arms: Sequence[str]) -> list[Path]:
    """Of each arm, a run for practice and one for the hypothesis check, over text that no rated item is from."""
    folders = []
    for arm in arms:
        for split, how in (("practice", ()), ("check", ("--complete",))):
            folders.append(RUNS / f"{arm}-{split}")
            what = ("--checkpoint", CHECKPOINTS / arm, "--corpus", CORPUS, "--out", folders[-1], "--split", split, *how)
            _timed(f"collect {arm} {split}", None, "collect", *what)
    return folders


def _timed(step: str, finished: Path | None, *arguments: str | Path) -> None:
    if finished is not None and finished.exists():
        return
    started = time.monotonic()
    run("model_runner.cli", *arguments)
    seconds = time.monotonic() - started
    times = read_times()
    # A step that found its work done takes a moment; the time it took when it worked stays.
    times[step] = max(seconds, times.get(step, 0.0))
    TIMES.write_text(json.dumps(times, indent=2) + "\n", encoding="utf-8")


def read_times() -> dict[str, float]:
    """Seconds of each step, by name."""
    if not TIMES.exists():
        return {}
    times: dict[str, float] = json.loads(TIMES.read_text(encoding="utf-8"))
    return times
