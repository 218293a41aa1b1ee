import errno
import os
from pathlib import Path

import pytest

from model_runner.errors import RunnerError
from model_runner.files import read_json, write_atomically, write_json


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    write_json(tmp_path / "a.json", {"old": 1})
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunnerError, match=r"a\.json could not be written: No space left on device"):
        write_json(tmp_path / "a.json", {"new": 2})
    assert read_json(tmp_path / "a.json") == {"old": 1}


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="No such file or directory"):
        write_atomically(tmp_path / "gone" / "a", b"")


@pytest.mark.parametrize(("content", "said"), [("{", "is damaged"), ("3", "does not hold a JSON object")])
def test_bad_json_is_a_sentence(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(RunnerError, match=said):
        read_json(tmp_path / "a.json")
