from pathlib import Path

import pytest
import torch
from torch._inductor.exc import InductorError

from model_runner.checkpoint import load_checkpoint
from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.tokenizer import digest, load_tokenizer
from model_runner.train import command as train_command

CONFIG = """
[model]
context = 16
layers = 2
heads = 2
width = 16
[train]
tokens = 512
batch_tokens = 64
validation_tokens = 256
"""


@pytest.fixture
def asked(corpus: Corpus, tmp_path: Path) -> list[str]:
    (tmp_path / "small.toml").write_text(CONFIG)
    where = ["--config", str(tmp_path / "small.toml"), "--corpus", str(corpus.folder), "--out", str(tmp_path / "arm")]
    return ["train", "--mlp", "solu_ln", *where]


def test_training(corpus: Corpus, asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*asked, "--seed", "3", "--tokens", "256"]) == 0
    said = capsys.readouterr().out
    trained = load_checkpoint(tmp_path / "arm").train
    assert (trained.seed, trained.tokens, trained.corpus_digest) == (3, 256, corpus.info.digest)
    assert f"held-out loss {trained.val_loss:.4f}" in said
    kept = tmp_path / "arm" / "tokenizer.json"
    assert digest(load_tokenizer(kept)) == trained.tokenizer_digest == corpus.info.tokenizer_digest


def test_threads_are_as_asked(asked: list[str]) -> None:
    before = torch.get_num_threads()
    try:
        assert main([*asked, "--threads", "3"]) == 0
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--config", "huge"], "There is no config 'huge'"),
        (["--tokens", "0"], "tokens is 0; it must be at least 1"),
        (["--threads", "0"], "--threads is 0; it must be at least 1"),
        (["--threads", "100000"], "--threads is 100,000; it must be at most 1,024"),
        (["--seed", "-1"], "seed is -1; it must be at least 0"),
        (["--corpus", "/nowhere"], "is not a finished corpus"),
    ],
)
def test_a_mistake_is_a_sentence(
    asked: list[str], more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*asked, *more]) == 2
    assert said in capsys.readouterr().err


def test_a_changed_option_is_refused(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asked) == 0
    assert main([*asked, "--seed", "5"]) == 2
    assert "was begun with seed 0 and is now asked for 5" in capsys.readouterr().err


def test_a_machine_without_a_compiler_is_a_sentence(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cannot(*_: object) -> None:
        raise InductorError(RuntimeError("No working C++ compiler found"), None)

    monkeypatch.setattr(train_command, "train", cannot)
    assert main([*asked, "--compile"]) == 2
    said = capsys.readouterr().err
    assert "torch.compile fails here: RuntimeError: No working C++ compiler found Install" in said
