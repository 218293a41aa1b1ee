"""A training that finds no room or no permission says so in a sentence, and goes on later as if nothing had been."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.train.train import train
from tests.model_runner.models import small_config, small_training
from tests.model_runner.test_full_disk import room_for
from tests.model_runner.train.killing import outcome, train_until_killed


@pytest.fixture(scope="module")
def whole(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    train(small_config(), small_training(), corpus, folder)
    return folder


@pytest.mark.parametrize("file", ["metrics.jsonl", "model.safetensors", "tokenizer.json", "config.json", "train.json"])
def test_a_disk_that_fills_up_anywhere_loses_nothing(corpus: Corpus, whole: Path, tmp_path: Path, file: str) -> None:
    """No file can grow as large as this one becomes: writing it, or a larger one before it, fails in the middle."""
    room = (whole / file).stat().st_size - 1
    with room_for(room), pytest.raises(RunnerError, match=r"could not be written: File too large\."):
        train(small_config(), small_training(), corpus, tmp_path)
    assert not (tmp_path / "train.json").exists()
    assert not list(tmp_path.glob("*.part"))
    train(small_config(), small_training(), corpus, tmp_path)
    assert outcome(tmp_path) == outcome(whole)


def test_a_line_of_the_record_cut_short_by_a_full_disk_is_written_anew(
    corpus: Corpus, whole: Path, tmp_path: Path
) -> None:
    """The states of steps 2 and 4 are saved; the disk is full in the middle of the sixth line."""
    line = len((whole / "metrics.jsonl").read_bytes().splitlines(keepends=True)[0])
    train_until_killed(corpus, tmp_path, before="model_runner.train.train.append_metrics", step=6)
    with (tmp_path / "metrics.jsonl").open("ab") as stream:
        stream.write(b'{"step": 6, "tok')
    assert (tmp_path / "metrics.jsonl").stat().st_size > 5 * line
    train(small_config(), small_training(), corpus, tmp_path)
    assert outcome(tmp_path) == outcome(whole)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_whatever_the_system_says_is_passed_on(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    original = Path.open

    def refused(self: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if self.is_relative_to(tmp_path) and mode[0] in "wax":
            raise OSError(error, os.strerror(error), str(self))
        return original(self, mode, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refused)
        with pytest.raises(RunnerError, match=f"could not be written: {os.strerror(error)}"):
            train(small_config(), small_training(), corpus, tmp_path)
    assert train(small_config(), small_training(), corpus, tmp_path).train.step == 8


def test_the_command_says_it_without_a_traceback(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["train", "--config", "12k", "--tokens", "2048", "--mlp", "gelu", "--corpus", str(corpus.folder)]
    with room_for(10):
        assert main([*asked, "--out", str(tmp_path / "arm")]) == 2
    said = capsys.readouterr().err
    assert "metrics.jsonl could not be written: File too large." in said
    assert "Traceback" not in said


def test_the_record_is_on_the_disk_before_the_state_that_counts_on_it(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut a state whose steps have no lines could not be gone on from."""
    synced: list[str] = []

    def fsync(descriptor: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)

    monkeypatch.setattr(os, "fsync", fsync)
    train_until_killed(corpus, tmp_path, before="model_runner.train.train.append_metrics", step=4)
    written = [name.removesuffix(".part") for name in synced]
    assert written.index("resume-2.safetensors") == written.index("metrics.jsonl", 1) + 1
