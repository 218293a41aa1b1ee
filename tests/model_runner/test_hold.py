"""A folder that one process writes at a time, also where the system cannot see to it."""

import errno
import fcntl
from pathlib import Path

import pytest

from model_runner.errors import RunnerError
from model_runner.hold import hold


def test_a_second_is_kept_out_until_the_first_has_gone(tmp_path: Path) -> None:
    with hold(tmp_path), pytest.raises(RunnerError, match="Another process is writing into"), hold(tmp_path):
        pass
    with hold(tmp_path):
        pass


def test_storage_without_locks_is_written_all_the_same_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """NFS refuses to lock what was opened for reading alone, which a folder always is."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with hold(tmp_path):
        (tmp_path / "written").touch()
    assert "cannot be locked (Bad file descriptor): see that no other process" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="could not be opened: No such file or directory"), hold(tmp_path / "no"):
        pass
