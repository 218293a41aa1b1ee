# Shape suffixes: B windows, T tokens.
from dataclasses import replace

import numpy as np
import pytest

from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.train.batches import Stream, pack, read_windows, windows_of_step
from tests.model_runner.models import small_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("corpus") / "corpus")


@pytest.fixture
def stream(corpus: Corpus) -> Stream:
    return pack(corpus, "train", context=16, seed=3)


def all_tokens(stream: Stream) -> list[int]:
    windows_BT = read_windows(stream, np.arange(stream.windows))
    return [*windows_BT[:, :-1].flatten().tolist(), int(windows_BT[-1, -1])]


def test_windows_are_the_documents_each_after_a_bos(corpus: Corpus, stream: Stream) -> None:
    order = np.argsort(corpus.documents["start"][corpus.in_split("train")])
    by_start = dict(zip(corpus.documents["start"], range(len(corpus.documents)), strict=True))
    documents = [by_start[start] for start in stream.sources_N]
    assert sorted(documents) == corpus.in_split("train").tolist()
    assert documents != corpus.in_split("train")[order].tolist()
    expected = [token for n in documents for token in (corpus.info.bos, *corpus.document_tokens(n).tolist())]
    assert all_tokens(stream) == expected[: stream.windows * 16 + 1]
    assert len(expected) - (stream.windows * 16 + 1) < 16


def test_every_window_comes_once_in_an_epoch(stream: Stream) -> None:
    batch = 8
    steps = -(-2 * stream.windows // batch)
    numbers = np.concatenate([windows_of_step(stream, step, batch) for step in range(steps)])
    first, second = numbers[: stream.windows], numbers[stream.windows : 2 * stream.windows]
    assert sorted(first) == sorted(second) == list(range(stream.windows))
    assert first.tolist() != second.tolist()
    assert first.tolist() != sorted(first)


def test_a_step_is_the_same_whenever_it_is_asked_for(stream: Stream) -> None:
    later = windows_of_step(stream, 1000, 8)
    windows_of_step(stream, 3, 8)
    assert windows_of_step(stream, 1000, 8).tolist() == later.tolist()


def test_ranks_share_what_one_would_read(stream: Stream) -> None:
    alone = windows_of_step(stream, 5, 8)
    shares = [windows_of_step(stream, 5, 8, rank, ranks=4) for rank in range(4)]
    assert np.concatenate(shares).tolist() == alone.tolist()


def test_ranks_that_cannot_share_are_refused(stream: Stream) -> None:
    with pytest.raises(RunnerError, match="8 windows cannot be shared equally by 3 ranks"):
        windows_of_step(stream, 0, 8, ranks=3)


def test_the_seed_decides_the_order(corpus: Corpus, stream: Stream) -> None:
    other = pack(corpus, "train", context=16, seed=4)
    assert all_tokens(other) != all_tokens(stream)
    assert windows_of_step(replace(stream, seed=4), 0, 8).tolist() != windows_of_step(stream, 0, 8).tolist()


def test_too_little_text_is_a_sentence(corpus: Corpus) -> None:
    with pytest.raises(RunnerError, match=r"The heldout split of .* tokens, not one window of 100000"):
        pack(corpus, "heldout", context=100_000, seed=0)
