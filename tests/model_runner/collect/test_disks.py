"""Disks that are full and folders that may only be read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from model_runner.checkpoint import Checkpoint
from model_runner.collect import collect as collecting
from model_runner.collect.collect import collect
from model_runner.collect.state import STATE_NAME
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.run.info import INFO_NAME
from tests.model_runner.collect.collecting import CONFIG, begin, files_of

FULL = Path("/dev/full")


needs_full = pytest.mark.skipif(not FULL.exists(), reason="/dev/full stands for a full disk")


@needs_full
def test_a_disk_full_while_the_state_is_written_keeps_the_state_before(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a" / "run"
    begin(checkpoint, corpus, folder, monkeypatch, 3)
    before = (folder / STATE_NAME).read_bytes()
    partial = folder / f"{STATE_NAME}.partial"
    partial.symlink_to(FULL)
    monkeypatch.setattr(collecting, "SAVE_SECONDS", -1.0)
    with pytest.raises(RunnerError, match=r"written: No space left on device\..*run the same command again"):
        collect(checkpoint, corpus, folder, CONFIG)
    assert (folder / STATE_NAME).read_bytes() == before
    partial.unlink()
    collect(checkpoint, corpus, folder, CONFIG)
    collect(checkpoint, corpus, tmp_path / "b" / "run", CONFIG)
    assert files_of(folder) == files_of(tmp_path / "b" / "run")


@needs_full
@pytest.mark.parametrize("name", ["units.npy", "top.activations.npy", "run.json.part"])
def test_a_disk_full_while_the_run_is_written_keeps_what_was_collected(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = tmp_path / "a" / "run"
    begin(checkpoint, corpus, folder, monkeypatch, 3)
    (folder / name).symlink_to(FULL)
    with pytest.raises(RunnerError, match=r"could not be written: (No space left|the disk took no more)"):
        collect(checkpoint, corpus, folder, CONFIG)
    assert (folder / STATE_NAME).exists()
    assert not (folder / INFO_NAME).exists()
    (folder / name).unlink(missing_ok=True)
    collect(checkpoint, corpus, folder, CONFIG)
    collect(checkpoint, corpus, tmp_path / "b" / "run", CONFIG)
    assert files_of(folder) == files_of(tmp_path / "b" / "run")


def test_a_read_only_folder_is_refused_before_the_work(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    monkeypatch.setattr(collecting, "read_blocks", None)
    with (
        _as_nobody(folder),
        pytest.raises(RunnerError, match=r"could not be written: Permission denied\. Choose another"),
    ):
        collect(checkpoint, corpus, folder, CONFIG)
    assert not list(folder.iterdir())


@contextmanager
def _as_nobody(folder: Path) -> Iterator[None]:
    """A folder that its own user may read only; the superuser, who may do all, becomes nobody for a while."""
    folder.chmod(0o555)
    superuser = os.geteuid() == 0
    if superuser:
        for above in folder.parents:
            if above.stat().st_mode & 0o011 != 0o011:
                above.chmod(above.stat().st_mode | 0o011)
        os.seteuid(65534)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)
        folder.chmod(0o755)
