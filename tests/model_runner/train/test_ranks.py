"""Two processes under torchrun train what one process trains, and a killed pair goes on."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from model_runner.checkpoint import load_checkpoint
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.hold import hold
from model_runner.ranks import SET_BY_TORCHRUN, open_ranks, usable
from model_runner.train.metrics import read_metrics
from model_runner.train.resume import Reached, going_on
from model_runner.train.train import train
from tests.model_runner.models import small_config, small_training
from tests.model_runner.train.killing import outcome, wait_for

CONFIG = """
[model]
context = 16
layers = 2
heads = 2
width = 16
[train]
tokens = {tokens}
batch_tokens = 64
validate_every = 4
validation_tokens = 256
checkpoint_every = 2
"""
STEPS, MANY_STEPS = 40, 400
"""Many are enough for a kill to come before the end."""


def start(corpus: Corpus, folder: Path, ranks: int, steps: int = STEPS) -> subprocess.Popen[str]:
    """`glance-runner train` under torchrun."""
    config = folder.parent / "small.toml"
    config.write_text(CONFIG.format(tokens=64 * steps))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = ["torch.distributed.run", "--nproc-per-node", str(ranks), "--master-port", str(port)]
    command = ["train", "--config", str(config), "--mlp", "solu_ln", "--corpus", str(corpus.folder)]
    return subprocess.Popen(
        [sys.executable, "-m", *run, "-m", "model_runner.cli", *command, "--out", str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    return out, err


def kill(process: subprocess.Popen[str]) -> None:
    """torchrun and its ranks, which would outlive it."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for pid in [process.pid, *map(int, children)]:
        os.kill(pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
def test_two_ranks_train_what_one_does(corpus: Corpus, tmp_path: Path) -> None:
    said, _ = finish(start(corpus, tmp_path / "two", 2))
    assert said.count("It is in") == 1
    train(small_config(), small_training(tokens=64 * STEPS), corpus, tmp_path / "one")
    one, two = read_metrics(tmp_path / "one"), read_metrics(tmp_path / "two")
    assert [line.step for line in two] == list(range(1, STEPS + 1))
    assert [line.tokens for line in two] == [line.tokens for line in one]
    for name in ("loss", "gradient_norm", "learning_rate", "val_loss"):
        # The held-out loss is read now and then; 0 stands for the other steps.
        expected = [getattr(line, name) or 0.0 for line in one]
        assert [getattr(line, name) or 0.0 for line in two] == pytest.approx(expected, rel=1e-4), name
    record = load_checkpoint(tmp_path / "two").train
    (stretch,) = record.computed_on
    assert (stretch["from_step"], stretch["ranks"], stretch["threads"], stretch["device"]) == (1, 2, 1, "cpu")
    assert not list((tmp_path / "two").glob("resume*"))


@pytest.mark.slow
def test_killed_ranks_go_on_where_they_were(corpus: Corpus, tmp_path: Path) -> None:
    process = start(corpus, tmp_path / "killed", 2, MANY_STEPS)
    wait_for(lambda: len(read_metrics(tmp_path / "killed")) >= 10, process)
    kill(process)
    assert not (tmp_path / "killed" / "train.json").exists()
    for folder in ("killed", "whole"):
        finish(start(corpus, tmp_path / folder, 2, MANY_STEPS))
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")
    assert len(load_checkpoint(tmp_path / "killed").train.computed_on) == 1


@pytest.mark.slow
def test_another_number_of_ranks_goes_on_and_says_so(corpus: Corpus, tmp_path: Path) -> None:
    process = start(corpus, tmp_path / "arm", 2, MANY_STEPS)
    wait_for(lambda: (tmp_path / "arm" / "resume.json").exists(), process)
    kill(process)
    step = json.loads((tmp_path / "arm" / "resume.json").read_text())["step"]
    _, err = finish(start(corpus, tmp_path / "arm", 1, MANY_STEPS))
    assert f"The first {step} steps were computed with ranks 2 and not 1" in err
    before, now = load_checkpoint(tmp_path / "arm").train.computed_on
    assert (before["from_step"], before["ranks"], now["from_step"], now["ranks"]) == (1, 2, step + 1, 1)


@pytest.mark.slow
def test_a_batch_that_ranks_cannot_share_is_a_sentence(corpus: Corpus, tmp_path: Path) -> None:
    process = start(corpus, tmp_path / "arm", 3)
    _, err = process.communicate(timeout=200)
    assert process.returncode != 0
    assert "A step of 4 windows cannot be shared equally by 3 ranks" in err
    assert not (tmp_path / "arm").exists()


def test_the_number_of_threads_is_kept_and_a_change_is_told() -> None:
    machine = {"threads": 2, "ranks": 1, "device": "cpu", "torch": "2"}
    fresh, said = going_on(Reached(), machine)
    assert fresh.computed_on == ({"from_step": 1, **machine},)
    assert said == ""
    later = Reached(7, 1.0, fresh.computed_on)
    assert going_on(later, machine) == (later, "")
    changed, said = going_on(later, {**machine, "threads": 4})
    assert changed.computed_on == (*fresh.computed_on, {"from_step": 8, **machine, "threads": 4})
    assert said.startswith("The first 7 steps were computed with threads 2 and not 4: the result will not be")


def test_two_trainings_do_not_write_into_one_folder(corpus: Corpus, tmp_path: Path) -> None:
    with hold(tmp_path), pytest.raises(RunnerError, match="Another process is writing into"):
        train(small_config(), small_training(), corpus, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert train(small_config(), small_training(), corpus, tmp_path).train.step == 8


def test_a_finished_training_records_its_threads(corpus: Corpus, tmp_path: Path) -> None:
    (stretch,) = train(small_config(), small_training(), corpus, tmp_path).train.computed_on
    assert stretch["threads"] == torch.get_num_threads()
    assert (stretch["ranks"], stretch["torch"]) == (1, torch.__version__)


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("toaster", "no kind of device 'toaster'; give cpu, cuda or cuda:1"),
        ("cuda:999", "CUDA devices, and cuda:999 is none of them"),
        ("meta", "Models run on cpu and on cuda, not on meta"),
    ],
)
def test_a_device_that_is_not_there_is_a_sentence(device: str, said: str) -> None:
    with pytest.raises(RunnerError, match=said):
        usable(device)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        ("two", "WORLD_SIZE is 'two' in the environment without RANK, LOCAL_RANK, MASTER_ADDR, MASTER_PORT"),
        ("2", "without RANK, LOCAL_RANK, MASTER_ADDR, MASTER_PORT. Start several processes with torchrun, or unset it"),
        ("0", "WORLD_SIZE is '0'"),
    ],
)
def test_an_environment_that_torchrun_did_not_make_is_a_sentence(
    count: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SET_BY_TORCHRUN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORLD_SIZE", count)
    with pytest.raises(RunnerError, match=said), open_ranks("cpu"):
        pass
