"""A corpus with near-duplicates and a model with opinions, made once for each file of tests."""

import pytest

from model_runner.checkpoint import Checkpoint
from model_runner.corpus.store import Corpus
from tests.corpora import make_corpus
from tests.model_runner.collect.collecting import make_checkpoint
from tests.texts import CODE, ODD, PROSE


def texts() -> list[str | tuple[str, str]]:
    """Documents shorter and longer than a context, some of them near-duplicates of one long paragraph."""
    paragraph = " ".join(PROSE[:8])
    near = [(f"{paragraph} Number {n}.", "prose") for n in range(3)]
    plain = [(text, "prose") for text in (*PROSE[8:18], *ODD[:2])]
    return [*near, *plain, *((text, "code") for text in CODE[:4]), ("word " * 40, "prose"), ("a", "prose")]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus") / "c", texts(), shares={"collect": 1.0})


@pytest.fixture(scope="module")
def checkpoint(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return make_checkpoint(tmp_path_factory.mktemp("checkpoint"), corpus)
