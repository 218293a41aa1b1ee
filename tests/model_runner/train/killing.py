"""Trainings that are killed, and what comes out of a training."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from model_runner.corpus.store import Corpus
from model_runner.train.metrics import read_metrics
from model_runner.train.train import train
from tests.model_runner.models import small_config, small_training


class Killed(BaseException):
    """Stands for a kill between two steps, where nothing may clean up."""


def train_until_killed(corpus: Corpus, folder: Path, *, before: str, step: int = 1) -> None:
    """Train, and end as a kill would before the step's call of this function of the runner."""

    def die(*arguments: object) -> object:
        if len(read_metrics(folder)) < step - 1:
            return original(*arguments)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        module, name = before.rsplit(".", 1)
        original = getattr(sys.modules[module], name)
        patch.setattr(before, die)
        with pytest.raises(Killed):
            train(small_config(), small_training(), corpus, folder)


LINE = "model_runner.train.train.append_metrics"


def outcome(folder: Path) -> tuple[bytes, list[dict[str, object]]]:
    """Weights, and metrics without the clock's."""
    lines = [{**asdict(line), "tokens_per_second": None} for line in read_metrics(folder)]
    return (folder / "model.safetensors").read_bytes(), lines


CHILD = """
import sys, torch
from pathlib import Path
from model_runner.corpus.store import open_corpus
from model_runner.train.train import train
from tests.model_runner.models import small_config, small_training
torch.set_num_threads(1)
config = small_training(tokens=64 * int(sys.argv[3]), checkpoint_every=3)
train(small_config(), config, open_corpus(Path(sys.argv[1])), Path(sys.argv[2]))
"""


def start(corpus: Corpus, folder: Path, steps: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", CHILD, str(corpus.folder), str(folder), str(steps)]
    return subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL)


def wait_for(what: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while not what():
        assert process.poll() is None, "the training ended before it could be killed"
        assert time.monotonic() < deadline, "the training did not get so far"
        time.sleep(0.002)
