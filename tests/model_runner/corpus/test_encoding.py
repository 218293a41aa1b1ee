"""Texts are encoded in processes of their own; one that is killed is heard of."""

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from model_runner.corpus import encoding
from model_runner.corpus.documents import Document
from model_runner.corpus.encoding import encode
from model_runner.corpus.spool import spool
from model_runner.errors import RunnerError
from model_runner.tokenizer import train_tokenizer
from tests.texts import PROSE


def test_a_process_that_is_killed_is_a_sentence_and_nobody_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(encoding, "BATCH_BYTES", 1_000)
    rows, _ = spool((Document(f"{n} {PROSE[n % len(PROSE)]}", "text") for n in range(200)), tmp_path / "texts")
    train_tokenizer(PROSE, 300).save(str(tmp_path / "tokenizer.json"))
    killer = threading.Thread(target=_kill_the_first_child)
    killer.start()
    with pytest.raises(RunnerError, match="One of 2 processes that encode text was killed"):
        list(encode(tmp_path / "texts", rows, tmp_path / "tokenizer.json"))
    killer.join()


def test_processes_leave_ctrl_c_to_the_one_that_started_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal gives it to all of them, and each would say so in a traceback."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(encoding, "BATCH_BYTES", 1_000)
    rows, _ = spool((Document(f"{n} {PROSE[n % len(PROSE)]}", "text") for n in range(50)), tmp_path / "texts")
    train_tokenizer(PROSE, 300).save(str(tmp_path / "tokenizer.json"))
    before = signal.getsignal(signal.SIGINT)
    encoded = encode(tmp_path / "texts", rows, tmp_path / "tokenizer.json")
    next(encoded)
    for child in multiprocessing.active_children():
        ignored = next(line for line in Path(f"/proc/{child.pid}/status").read_text().splitlines() if "SigIgn" in line)
        assert int(ignored.split()[1], 16) & 1 << (signal.SIGINT - 1)
    assert signal.getsignal(signal.SIGINT) == before
    assert len(list(encoded)) > 1


def _kill_the_first_child() -> None:
    deadline = time.monotonic() + 60
    while not (children := multiprocessing.active_children()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert children[0].pid is not None
    os.kill(children[0].pid, signal.SIGKILL)
