"""A collection that was stopped goes on to the same bytes, and with the same settings only."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from model_runner.checkpoint import Checkpoint
from model_runner.collect import collect as collecting
from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig
from model_runner.collect.state import STATE_NAME
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.run.info import INFO_NAME
from tests.model_runner.collect.collecting import COMPLETE, CONFIG, Stop, begin, files_of, make_checkpoint

SLOW = """
import sys, time
from pathlib import Path
from model_runner.collect import collect
from model_runner.checkpoint import load_checkpoint
from model_runner.collect.config import CollectConfig
from model_runner.corpus.store import open_corpus

collect.SAVE_SECONDS = 0.0
read_layer = collect.read_layer
def slowly(*arguments):
    read_layer(*arguments)
    time.sleep(0.02)
collect.read_layer = slowly
model, corpus, out = map(Path, sys.argv[1:])
collect.collect(load_checkpoint(model), open_corpus(corpus), out, CollectConfig(kept=5, block=3))
"""


def test_killed_and_resumed_gives_the_same_bytes(corpus: Corpus, tmp_path: Path) -> None:
    checkpoint = make_checkpoint(tmp_path / "model", corpus)
    whole = collect(checkpoint, corpus, tmp_path / "whole" / "run", CONFIG)
    folder = tmp_path / "killed" / "run"
    arguments = [sys.executable, "-c", SLOW, str(tmp_path / "model"), str(corpus.folder), str(folder)]
    process = subprocess.Popen(arguments, env={**os.environ, "OMP_NUM_THREADS": "1"})
    deadline = time.monotonic() + 60
    while not (folder / STATE_NAME).exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (folder / INFO_NAME).exists()
    assert (folder / STATE_NAME).exists()
    assert collect(checkpoint, corpus, folder, CONFIG) == whole
    assert files_of(folder) == files_of(tmp_path / "whole" / "run")


@pytest.mark.parametrize("config", [CONFIG, COMPLETE], ids=["top", "complete"])
def test_resuming_from_any_block_gives_the_same_bytes(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: CollectConfig
) -> None:
    collect(checkpoint, corpus, tmp_path / "whole" / "run", config)
    for blocks in (1, 5, 6, 12):
        folder = tmp_path / str(blocks) / "run"
        begin(checkpoint, corpus, folder, monkeypatch, blocks, config)
        collect(checkpoint, corpus, folder, config)
        assert files_of(folder) == files_of(tmp_path / "whole" / "run")


def test_killed_before_it_could_tidy_up(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(checkpoint, corpus, tmp_path / "run", monkeypatch, 3)
    with monkeypatch.context() as killed:
        killed.setattr(collecting, "forget_states", _stop)
        with pytest.raises(Stop):
            collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    assert list((tmp_path / "run").glob("collecting*"))
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    assert not list((tmp_path / "run").glob("collecting*"))


def _stop(_: object) -> None:
    raise Stop


def test_other_settings_are_refused_on_the_way_and_at_the_end(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(checkpoint, corpus, tmp_path / "run", monkeypatch, 3)
    for change in ({"kept": 6}, {"block": 4}, {"tokens": 800}, {"parts": ("code",)}):
        with pytest.raises(RunnerError, match=f"begun with {next(iter(change))}"):
            collect(checkpoint, corpus, tmp_path / "run", replace(CONFIG, **change))
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    with pytest.raises(RunnerError, match="begun with kept 5 and is now asked for 6"):
        collect(checkpoint, corpus, tmp_path / "run", replace(CONFIG, kept=6))


@pytest.mark.parametrize("damage", ["empty", "half", "tail", "flip"])
def test_a_damaged_state_is_refused(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    begin(checkpoint, corpus, tmp_path / "run", monkeypatch, 3)
    path = tmp_path / "run" / STATE_NAME
    whole = bytearray(path.read_bytes())
    if damage == "flip":
        whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(whole[: {"empty": 0, "half": len(whole) // 2, "tail": len(whole) - 9}.get(damage)])
    with pytest.raises(RunnerError, match=f"{STATE_NAME} is damaged"):
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    path.unlink()
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)


def test_another_checkpoint_is_refused_on_the_way_and_at_the_end(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_checkpoint(tmp_path / "other", corpus, "gelu")
    begin(checkpoint, corpus, tmp_path / "run", monkeypatch, 3)
    for _ in range(2):
        before = files_of(tmp_path / "run")
        with pytest.raises(RunnerError, match="begun with checkpoint_digest"):
            collect(other, corpus, tmp_path / "run", CONFIG)
        assert {**files_of(tmp_path / "run"), f"{STATE_NAME}.partial": b""} == {**before, f"{STATE_NAME}.partial": b""}
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)
