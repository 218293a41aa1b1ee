"""A small corpus, made once for each file of tests."""

import pytest

from model_runner.corpus.store import Corpus
from tests.model_runner.models import small_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("corpus") / "corpus")
