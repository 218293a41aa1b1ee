"""Ranks that torchrun starts share the documents and come to the same bytes as one process."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from model_runner.checkpoint import Checkpoint
from model_runner.collect import collect as collecting
from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig
from model_runner.collect.contexts import cut_contexts, shard
from model_runner.collect.group import merge_groups, new_groups, settle_groups
from model_runner.collect.state import state_file
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.ranks import Ranks
from model_runner.run.info import INFO_NAME
from tests.model_runner.collect.collecting import COMPLETE, CONFIG, WINDOW, files_of, make_checkpoint

SLOW = """
import os, sys, time
from pathlib import Path
from model_runner.collect import collect
from model_runner.cli import main

collect.SAVE_SECONDS = 0.0
read_layer = collect.read_layer
def slowly(*arguments):
    read_layer(*arguments)
    time.sleep(0.03)
collect.read_layer = slowly
Path(sys.argv[1], f"rank-{os.environ['RANK']}").write_text(str(os.getpid()))
sys.exit(main(sys.argv[2:]))
"""
ASKED = ["--kept", "5", "--block", "3", "--complete", "--directions", "3", "--directions-seed", "5"]


def start(program: list[str], corpus: Corpus, folder: Path, ranks: int) -> subprocess.Popen[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = ["-m", "torch.distributed.run", "--nproc-per-node", str(ranks), "--master-port", str(port), *program]
    command = ["collect", "--checkpoint", str(folder.parent.parent / "model"), "--corpus", str(corpus.folder), *ASKED]
    return subprocess.Popen(
        [sys.executable, *run, *command, "--out", str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


COMMAND = ["-m", "model_runner.cli"]


@pytest.fixture
def folder(corpus: Corpus, tmp_path: Path) -> Path:
    """Where ranks collect, and the model two folders above it."""
    make_checkpoint(tmp_path / "model", corpus)
    return tmp_path / "ranks" / "run"


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    return out


def wait_for(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 100
    while not true():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_two_ranks_collect_the_bytes_of_one_process(
    checkpoint: Checkpoint, corpus: Corpus, folder: Path, tmp_path: Path
) -> None:
    said = finish(start(COMMAND, corpus, folder, 2))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        info = collect(checkpoint, corpus, tmp_path / "one" / "run", COMPLETE)
    finally:
        torch.set_num_threads(threads)
    assert said.count(info.digest) == 1
    assert files_of(folder) == files_of(tmp_path / "one" / "run")


@pytest.mark.slow
def test_a_rank_is_killed_and_all_go_on(checkpoint: Checkpoint, corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    process = _slow(corpus, folder, tmp_path)
    states = [state_file(folder, Ranks(rank, 2)) for rank in range(2)]
    wait_for(lambda: all(state.exists() for state in states), process)
    os.kill(int((tmp_path / "rank-1").read_text()), signal.SIGKILL)
    process.communicate(timeout=200)
    assert process.returncode != 0
    assert not (folder / INFO_NAME).exists()
    with pytest.raises(RunnerError, match=r"collecting-0-of-2\.npz was begun by another number of processes than 1"):
        collect(checkpoint, corpus, folder, COMPLETE)
    damaged = states[1].read_bytes()
    states[1].write_bytes(damaged[: len(damaged) // 2])
    process = start(COMMAND, corpus, folder, 2)
    _, err = process.communicate(timeout=200)
    assert process.returncode != 0
    assert "collecting-1-of-2.npz is damaged" in err
    states[1].write_bytes(damaged)
    finish(start(COMMAND, corpus, folder, 2))
    collect(checkpoint, corpus, tmp_path / "one" / "run", COMPLETE)
    assert files_of(folder) == files_of(tmp_path / "one" / "run")


def _slow(corpus: Corpus, folder: Path, tmp_path: Path) -> subprocess.Popen[str]:
    program = tmp_path / "slow.py"
    program.write_text(SLOW)
    return start([str(program), str(tmp_path)], corpus, folder, 2)


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("rows", [1, 3, 8])
def test_shards_are_whole_documents_and_together_everything(corpus: Corpus, parts: int, rows: int) -> None:
    whole = cut_contexts(corpus, corpus.in_split("collect"), WINDOW, rows)
    blocks = [whole.block(number) for number in whole.numbers]
    seen = [np.zeros_like(block.rankable_BT, np.int64) for block in blocks]
    homes: dict[int, set[int]] = {}
    for part in range(parts):
        mine = shard(whole, part, parts)
        for number in mine.numbers:
            block = mine.block(number)
            np.testing.assert_array_equal(block.tokens_BT, blocks[number].tokens_BT)
            seen[number] += block.rankable_BT
            for document in block.document_B[block.rankable_BT.any(axis=1)].tolist():
                homes.setdefault(document, set()).add(part)
            assert mine.block(mine.numbers[-1]).unfinished == -1
    for block, times in zip(blocks, seen, strict=True):
        np.testing.assert_array_equal(times, block.rankable_BT)
    assert all(len(parts) == 1 for parts in homes.values())


@pytest.mark.parametrize("parts", [2, 5, 50])
def test_merged_shards_are_the_whole(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    """As ranks do it, in one process: any number of them, empty shards too."""
    collect(checkpoint, corpus, tmp_path / "whole" / "run", COMPLETE)

    def in_parts(
        model: object, contexts: object, groups: object, state: object, settings: object, ranks: object
    ) -> None:
        for part in range(parts):
            other = new_groups(checkpoint.model, checkpoint.about.hidden, settings)  # type: ignore[arg-type]
            take = collecting.taking(checkpoint.model, other, corpus)
            mine = shard(contexts, part, parts)  # type: ignore[arg-type]
            for _ in collecting.read_blocks(checkpoint.model, mine, mine.numbers, take, lambda: False):
                pass
            settle_groups(other, -1)
            merge_groups(groups, other)  # type: ignore[arg-type]

    monkeypatch.setattr(collecting, "_read", in_parts)
    collect(checkpoint, corpus, tmp_path / "parts" / "run", COMPLETE)
    assert files_of(tmp_path / "parts" / "run") == files_of(tmp_path / "whole" / "run")


@pytest.mark.parametrize("config", [CONFIG, COMPLETE], ids=["top", "complete"])
def test_the_number_of_threads_changes_no_byte(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, config: CollectConfig
) -> None:
    threads = torch.get_num_threads()
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            collect(checkpoint, corpus, tmp_path / str(count) / "run", config)
            assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(threads)
    assert files_of(tmp_path / "1" / "run") == files_of(tmp_path / "2" / "run") == files_of(tmp_path / "5" / "run")
