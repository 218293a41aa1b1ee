"""A corpus to collect over, made once for each file of tests."""

# Shape suffixes: B batch, T tokens, D model width, F hidden units.
import pytest

from model_runner.corpus.store import Corpus
from tests.corpora import make_corpus
from tests.texts import CODE, PROSE


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    texts = [f"{number}. {text}" for number, text in enumerate((*PROSE, *CODE))]
    return make_corpus(tmp_path_factory.mktemp("corpus") / "c", texts, shares={"collect": 1.0})
