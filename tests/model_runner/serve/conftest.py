"""Two small checkpoints of one corpus, and their service on loopback, made once for each file of tests."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from model_runner.checkpoint import save_checkpoint
from model_runner.corpus.store import Corpus
from tests.model_runner.models import record, scrambled, small_config, small_corpus
from tests.model_runner.serve.service import serving, wait_until


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("corpus") / "c")


@pytest.fixture(scope="module")
def folders(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two arms, the second with a norm after its activations and no tokenizer beside it."""
    parent = tmp_path_factory.mktemp("models")
    for name, mlp in (("plain", "gelu"), ("legible", "solu_ln")):
        config = small_config(mlp, context=64, vocab_size=corpus.info.vocab_size)  # type: ignore[arg-type]
        save_checkpoint(parent / name, scrambled(config), record(tokenizer_digest=corpus.info.tokenizer_digest))
    (parent / "plain" / "tokenizer.json").write_bytes((corpus.folder / "tokenizer.json").read_bytes())
    return [parent / "plain", parent / "legible"]


@pytest.fixture(scope="module")
def client(folders: list[Path], corpus: Corpus) -> Iterator[httpx2.Client]:
    with serving(folders, corpus) as client:
        wait_until(lambda: client.get("/ready").status_code == 200)
        yield client
