"""The command itself: whatever goes wrong around it is a sentence and no traceback."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from model_runner import cli
from model_runner.cli import main

COLLECT = ["collect", "--checkpoint", "a", "--corpus", "b", "--out", "c"]


def raising(failure: BaseException) -> Callable[[object], None]:
    def do(_: object) -> None:
        raise failure

    return do


@pytest.mark.parametrize(
    ("failure", "status", "said"),
    [
        (PermissionError(13, "Permission denied", "/root/corpus"), 2, "/root/corpus is closed to this user"),
        (KeyboardInterrupt(), 130, "Stopped. Training and collecting go on from their last state"),
        (MemoryError("Unable to allocate 9 PiB."), 2, "There is not enough memory for this: Unable to allocate 9 PiB."),
    ],
)
def test_what_comes_from_outside_is_a_sentence(
    failure: BaseException,
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(cli, "_collect", raising(failure))
    assert main(COLLECT) == status
    assert said in capsys.readouterr().err


def test_a_mistake_of_the_program_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_collect", raising(RuntimeError("of the program's own")))
    with pytest.raises(RuntimeError, match="of the program's own"):
        main(COLLECT)


@pytest.mark.parametrize("option", ["--out", "--licence", "--from"])
def test_bytes_that_are_not_utf8_are_refused_before_any_work(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"--from": str(tmp_path), "--out": str(tmp_path / "corpus"), option: os.fsdecode(b"caf\xe9")}
    assert main(["corpus", *(word for pair in given.items() for word in pair)]) == 2
    assert r"b'caf\xe9' is not UTF-8. Rename it" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
