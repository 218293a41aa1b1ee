"""Bytes of a corpus that were changed after it was built."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from model_runner.checkpoint import save_checkpoint
from model_runner.cli import main
from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig
from model_runner.corpus import digest
from model_runner.corpus.names import CONTENT
from model_runner.corpus.store import Corpus, open_corpus
from model_runner.errors import RunnerError
from model_runner.evaluation.document_losses import document_losses
from model_runner.rules.sites import sample
from model_runner.train.train import train
from tests.corpora import make_corpus
from tests.model_runner.models import record, scrambled, small_config, small_corpus, small_training
from tests.texts import PROSE

DOCUMENTS = [(text, "prose" if number % 2 else "python") for number, text in enumerate(PROSE)]


def _overwrite(file: Path, token: int) -> None:
    """Every token of a corpus becomes another, in a file as long as before."""
    tokens = np.load(file)
    np.save(file, np.full_like(tokens, token))


@pytest.mark.parametrize("name", CONTENT)
@pytest.mark.parametrize("older", [False, True])
def test_a_changed_byte_is_found_when_the_corpus_is_opened(tmp_path: Path, name: str, older: bool) -> None:
    folder = make_corpus(tmp_path / "corpus", DOCUMENTS).folder
    if older:
        _forget_files(folder)
        open_corpus(folder)
    content = bytearray((folder / name).read_bytes())
    content[-12] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(RunnerError, match=rf"{'corpus' if older else name} was changed after the corpus was built"):
        open_corpus(folder)


def _forget_files(folder: Path) -> None:
    """As a corpus that was built before corpus.json had a digest for each file."""
    fields = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    del fields["files"]
    (folder / "corpus.json").write_text(json.dumps(fields))


@pytest.mark.parametrize("token", [5, 383, 384, 65_535])
def test_overwritten_tokens_are_found_in_a_corpus_too_large_to_look_at(
    tmp_path: Path, token: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(digest, "QUICK_BYTES", 0)
    corpus = make_corpus(tmp_path / "corpus", DOCUMENTS)
    assert main(["corpus", "--out", str(corpus.folder), "--check"]) == 0
    assert "byte for byte" in capsys.readouterr().out
    _overwrite(corpus.folder / "tokens.npy", token)
    open_corpus(corpus.folder)
    assert main(["corpus", "--out", str(corpus.folder), "--check"]) == 2
    assert "tokens.npy was changed after the corpus was built" in capsys.readouterr().err


def _train(corpus: Corpus, folder: Path) -> None:
    train(small_config(), small_training(), corpus, folder)


def _collect(corpus: Corpus, folder: Path) -> None:
    digests = {"corpus_digest": corpus.info.digest, "tokenizer_digest": corpus.info.tokenizer_digest}
    checkpoint = save_checkpoint(folder / "model", scrambled(small_config()), record(**digests))
    collect(checkpoint, corpus, folder / "run", CollectConfig())


def _evaluate(corpus: Corpus, folder: Path) -> None:
    document_losses(scrambled(small_config()), corpus, np.arange(20))


def _sample(corpus: Corpus, folder: Path) -> None:
    sample(corpus, np.arange(20), window=16, count=50, seed=0)


@pytest.mark.parametrize("read", [_train, _collect, _evaluate, _sample])
def test_a_token_outside_the_vocabulary_is_a_sentence_wherever_it_is_read(
    tmp_path: Path, read: Callable[[Corpus, Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "QUICK_BYTES", 0)
    folder = small_corpus(tmp_path / "corpus").folder
    _overwrite(folder / "tokens.npy", 384)
    with pytest.raises(
        RunnerError, match=r"tokens\.npy is damaged: it holds the token 384, and the vocabulary has 384"
    ):
        read(open_corpus(folder), tmp_path / "out")
