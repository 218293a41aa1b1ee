"""`glance-runner collect`."""

from pathlib import Path

import numpy as np
import pytest
import torch

from model_runner.checkpoint import Checkpoint
from model_runner.cli import main
from model_runner.collect.collect import collect
from model_runner.corpus.store import Corpus
from model_runner.run.folder import open_run
from tests.model_runner.collect.collecting import CONFIG, make_checkpoint


def test_a_run_in_the_folder_one_is_in_has_its_name(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert collect(checkpoint, corpus, Path("."), CONFIG).name == tmp_path.name


def test_what_does_not_fit_into_memory_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_much(_: object) -> None:
        np.zeros(1 << 50)

    monkeypatch.setattr("model_runner.collect.command.run", too_much)
    assert main(["collect", "--checkpoint", "x", "--corpus", "x", "--out", "x"]) == 2
    assert "There is not enough memory for this: Unable to allocate" in capsys.readouterr().err


def test_what_pytorch_has_no_memory_for_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("model_runner.collect.command.run", lambda _: torch.empty(1 << 55))
    assert main(["collect", "--checkpoint", "x", "--corpus", "x", "--out", "x"]) == 2
    assert "There is not enough memory for this" in capsys.readouterr().err
    monkeypatch.setattr("model_runner.collect.command.run", lambda _: torch.zeros(2) @ torch.zeros(3))
    with pytest.raises(RuntimeError, match="size"):
        main(["collect", "--checkpoint", "x", "--corpus", "x", "--out", "x"])


def test_the_command_collects_and_says_what_came_of_it(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_checkpoint(tmp_path / "model", corpus)
    asked = ["collect", "--checkpoint", str(tmp_path / "model"), "--corpus", str(corpus.folder)]
    assert main([*asked, "--out", str(tmp_path / "run"), "--kept", "5", "--parts", "code"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("64 units over ")
    assert open_run(tmp_path / "run").info.digest in said
    assert main([*asked, "--out", str(tmp_path / "run"), "--kept", "6", "--parts", "code"]) == 2
    assert "kept 5 and is now asked for 6" in capsys.readouterr().err


def test_a_finished_folder_is_compared_byte_by_byte_where_that_is_asked(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_checkpoint(tmp_path / "model", corpus)
    asked = ["collect", "--checkpoint", str(tmp_path / "model"), "--corpus", str(corpus.folder), "--kept", "2"]
    asked += ["--out", str(tmp_path / "run")]
    assert main([*asked, "--check"]) == 0
    changed = tmp_path / "run" / "top.activations.npy"
    content = changed.read_bytes()
    changed.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert main(asked) == 0
    capsys.readouterr()
    assert main([*asked, "--check"]) == 2
    said = capsys.readouterr()
    assert f"{changed} was changed after the run was collected. Collect the run again. Delete {tmp_path}" in said.err
    assert said.out == ""
