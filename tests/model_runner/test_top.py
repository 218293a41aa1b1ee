import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_runner.collect import waiting
from model_runner.collect.capture import Gathered
from model_runner.collect.top import EMPTY, merge
from tests.model_runner.brute_force import MadeDocument, brute_force, entries, stream

UNITS = 3


@st.composite
def corpora(draw: st.DrawFn) -> list[MadeDocument]:
    """Documents of few distinct values and few clusters, so that ties and collapses are everywhere."""
    seed = draw(st.integers(0, 2**32 - 1))
    values = draw(st.sampled_from([[-1.0, -0.0, 0.0, 1.0], [-2.0, -1.0], [0.0], [1.0, 2.0, 3.0, 4.0, 5.0]]))
    clusters = draw(st.integers(1, 12))
    specials = draw(st.sampled_from([0.0, 0.3]))
    lengths = draw(st.lists(st.integers(0, 14), min_size=1, max_size=16))
    rng = np.random.default_rng(seed)
    return [
        MadeDocument(
            number,
            rng.choice(np.array(values, np.float32), (length, UNITS)),
            rng.integers(0, clusters, length),
            rng.random(length) < specials,
        )
        for number, length in enumerate(lengths)
    ]


@given(
    documents=corpora(),
    window=st.integers(2, 9),
    rows=st.integers(1, 6),
    kept=st.integers(1, 6),
    often=st.booleans(),
)
def test_streaming_equals_sorting(
    documents: list[MadeDocument], window: int, rows: int, kept: int, often: bool
) -> None:
    gathered = stream(documents, window, rows, kept, often)
    _check_windows(gathered, documents, window)
    for unit in range(UNITS):
        assert entries(gathered.lists, unit) == brute_force(documents, unit, kept)


def test_neighbours_in_float32_are_told_apart_and_large_ones_stay_numbers() -> None:
    """bfloat16 has one number for the three in the middle, and float16 none for 70,000."""
    one = np.float32(1.0)
    above, below = np.nextafter(one, np.float32(2.0)), np.nextafter(one, np.float32(0.0))
    values = [below, np.float32(70_000.0), one, np.float32(0.5), above]
    documents = [
        MadeDocument(number, np.full((1, UNITS), value, np.float32), np.array([number]), np.zeros(1, np.bool_))
        for number, value in enumerate(values)
    ]
    found = entries(stream(documents, 4, 2, len(values), False).lists, 0)
    assert [entry.document for entry in found] == [1, 4, 2, 0, 3]
    assert [np.float32(entry.value) for entry in found] == [values[entry.document] for entry in found]


@given(documents=corpora(), window=st.integers(2, 9), kept=st.integers(1, 6), seed=st.integers(0, 99))
def test_any_order_and_any_division_of_the_documents_gives_the_same(
    documents: list[MadeDocument], window: int, kept: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    share = rng.integers(0, 3, len(documents))
    total = None
    for rank in rng.permutation(3):
        part = [documents[i] for i in rng.permutation(len(documents)) if share[i] == rank]
        if not part:
            continue
        lists = stream(part, window, 2, kept, often=False).lists
        if total is None:
            total = lists
        else:
            merge(total, lists)
    assert total is not None
    for unit in range(UNITS):
        assert entries(total, unit) == brute_force(documents, unit, kept)


def _check_windows(gathered: Gathered, documents: list[MadeDocument], window: int) -> None:
    """Each place's window is the one of its document, although entries changed their places."""
    lists = gathered.lists
    for unit, place in np.argwhere(lists.value_FK != EMPTY):
        start = lists.start_FK[unit, place]
        acts = documents[lists.document_FK[unit, place]].acts_TF[start : start + window - 1, unit]
        kept = lists.windows_PSW[lists.window_FK[unit, place], 0]
        np.testing.assert_array_equal(kept[1 : len(acts) + 1], acts)
        assert kept[lists.peak_FK[unit, place]] == lists.value_FK[unit, place]


@pytest.mark.parametrize("length", [1, 7, 100])
def test_little_room_to_wait_changes_nothing(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(waiting, "LEAST_ROOM", 1)
    rng = np.random.default_rng(length)
    documents = [
        MadeDocument(
            n,
            rng.integers(0, 4, (length, UNITS)).astype(np.float32),
            rng.integers(0, 9, length),
            np.zeros(length, bool),
        )
        for n in range(20)
    ]
    gathered = stream(documents, 5, 3, 4, often=False)
    assert gathered.waiting.room <= 2 * UNITS
    for unit in range(UNITS):
        assert entries(gathered.lists, unit) == brute_force(documents, unit, 4)


def test_a_suppressed_document_comes_back_when_its_rival_peaks_elsewhere() -> None:
    """The long document's first peak lies in a cluster that its last one leaves to another document."""
    short = MadeDocument(0, np.array([[4.0]], np.float32), np.array([7]), np.array([False]))
    acts = np.array([[5.0], [0.0], [9.0]], np.float32)
    long = MadeDocument(1, acts, np.array([7, 7, 8]), np.zeros(3, bool))
    lists = stream([short, long], window=2, rows=1, kept=2, often=True).lists
    assert [(entry.value, entry.document) for entry in entries(lists, 0)] == [(9.0, 1), (4.0, 0)]


def test_states_are_watched() -> None:
    acts = np.array([[0.0, 1.0, np.nan], [0.0, 2.0, 1.0], [0.0, 1.0, np.inf]], np.float32)
    document = MadeDocument(0, acts, np.arange(3), np.zeros(3, bool))
    gathered = stream([document], window=2, rows=2, kept=2, often=False)
    assert gathered.constant_F.tolist() == [True, False, False]
    assert gathered.finite_F.tolist() == [True, True, False]
