import os
from pathlib import Path

import pytest

from tests.runs import make_run


def test_every_array_is_on_the_disk_before_the_folder_is_said_to_be_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut run.json must not speak of arrays that never arrived."""
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(Path(os.readlink(f"/proc/self/fd/{file}")).name))
    make_run(tmp_path)
    assert synced[-1] == "run.json.part"
    assert sorted(synced[:-1]) == sorted(path.name for path in tmp_path.glob("*.npy"))
