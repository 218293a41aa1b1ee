"""The state of an unfinished collection: damaged anywhere, it is a sentence."""

import os
import random
from contextlib import suppress
from pathlib import Path
from zipfile import ZipFile

import pytest

from model_runner.collect.config import CollectSettings
from model_runner.collect.group import Group, new_groups
from model_runner.collect.state import load_state, make_room, save_state
from model_runner.errors import RunnerError
from model_runner.ranks import ALONE
from tests.model_runner.models import scrambled, small_config

SETTINGS = CollectSettings(
    checkpoint_digest="c",
    corpus_digest="d",
    split="collect",
    parts=("text",),
    kept=2,
    window=8,
    tokens=None,
    block=4,
    complete=False,
    directions=0,
    directions_seed=0,
)


def fresh() -> list[Group]:
    return new_groups(scrambled(small_config(layers=1, width=8)), 32, SETTINGS)


def test_whichever_byte_of_the_archive_is_broken_it_is_a_sentence(tmp_path: Path) -> None:
    groups, file = fresh(), tmp_path / "collecting.npz"
    save_state(file, SETTINGS.as_json(), 3, groups)
    assert load_state(file, SETTINGS.as_json(), groups) == 3
    whole, drawn, refused = file.read_bytes(), random.Random(0), 0
    with ZipFile(file) as archive:
        headers = [entry.header_offset for entry in archive.infolist()]
        directory = archive.start_dir
    places = [*range(directory, len(whole)), *(first + byte for first in headers for byte in range(130))]
    for place in drawn.sample(places, 300):
        changed = bytes([drawn.choice([0, 1, 99, 255, whole[place] ^ 1, whole[place] ^ 128])])
        file.write_bytes(whole[:place] + changed + whole[place + 1 :])
        with suppress(RunnerError):
            load_state(file, SETTINGS.as_json(), groups)
            continue
        refused += 1
    assert refused > 100


def test_a_name_that_no_record_takes_is_refused_before_the_work(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"run\xff")
    with pytest.raises(RunnerError, match=r"run\\xff' is not UTF-8\. Choose another --out"):
        make_room(folder, ALONE)
    assert not folder.exists()
