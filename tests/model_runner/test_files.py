import errno
import os
from pathlib import Path

import pytest

from model_runner.cli import main
from model_runner.errors import RunnerError
from model_runner.files import read_json, remove, why, write_atomically, write_json
from model_runner.train.train import train
from tests.model_runner.models import small_config, small_corpus, small_training


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    write_json(tmp_path / "a.json", {"old": 1})
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunnerError, match=r"a\.json could not be written: No space left on device"):
        write_json(tmp_path / "a.json", {"new": 2})
    assert read_json(tmp_path / "a.json") == {"old": 1}


def test_an_array_that_found_no_room_has_a_reason_too() -> None:
    """NumPy writes an array in one go and tells how much of it, and no reason."""
    assert why(OSError("90 requested and 8 written")) == "the disk took no more (90 requested and 8 written)"
    assert why(OSError(errno.ENOSPC, "No space left on device")) == "No space left on device"


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="No such file or directory"):
        write_atomically(tmp_path / "gone" / "a", b"")


@pytest.mark.parametrize(("content", "said"), [("{", "is damaged"), ("3", "does not hold a JSON object")])
def test_bad_json_is_a_sentence(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(RunnerError, match=said):
        read_json(tmp_path / "a.json")


def test_only_what_is_there_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system says that a folder is read-only before it says that there is no such file in it."""

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", read_only)
    remove(tmp_path / "a.json")
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(RunnerError, match=r"a\.json could not be removed: Read-only file system"):
        remove(tmp_path / "a.json")


def test_a_finished_checkpoint_is_read_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = small_corpus(tmp_path / "corpus")
    train(small_config(), small_training(), corpus, tmp_path / "arm")

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", read_only)
    monkeypatch.setattr(Path, "replace", read_only)
    assert train(small_config(), small_training(), corpus, tmp_path / "arm").train.step == 8
    command = ["evaluate", "--checkpoint", str(tmp_path / "arm"), "--corpus", str(corpus.folder), "--save"]
    assert main(command) == 2
    assert "evaluation.npy could not be written: Read-only file system" in capsys.readouterr().err
