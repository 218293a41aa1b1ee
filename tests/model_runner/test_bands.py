from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from model_runner.collect import bands as sampling
from model_runner.collect.banded import BANDS, band_edges, band_octaves, cut
from model_runner.collect.bands import CONTEXT_BITS, OCTAVES, Bands, no_bands, octaves, sample, settle_bands
from model_runner.collect.capture import look
from model_runner.collect.contexts import Block
from model_runner.collect.top import EMPTY, merge

WINDOW, KEPT = 6, 3


def _block(acts_BTU: NDArray[np.float32], first: int, length_B: NDArray[np.int64]) -> Block:
    """Each context is a document of its own; what lies beyond a length is padding."""
    rows = len(acts_BTU)
    place_T = np.arange(WINDOW)
    return Block(
        tokens_BT=np.zeros((rows, WINDOW), np.int64),
        length_B=length_B,
        document_B=np.arange(first, first + rows),
        start_B=np.zeros(rows, np.int64),
        rankable_BT=(place_T > 0) & (place_T < length_B[:, None]),
        unfinished=-1,
    )


def _sampled(
    acts_CTU: NDArray[np.float32], rows: int, first: int = 0, lengths: NDArray[np.int64] | None = None
) -> Bands:
    lengths = np.full(len(acts_CTU), WINDOW) if lengths is None else lengths
    bands = no_bands(acts_CTU.shape[2], KEPT, WINDOW, 1)
    for at in range(0, len(acts_CTU), rows):
        part = acts_CTU[at : at + rows]
        block = _block(part, first + at, lengths[at : at + rows])
        sample(bands, look(torch.from_numpy(part), block), None)
    settle_bands(bands)
    return bands


def _contexts(bands: Bands, unit: int, octave: int) -> list[int]:
    row = unit * OCTAVES + octave
    return [int(d) >> CONTEXT_BITS for d in bands.lists.document_FK[row][bands.lists.value_FK[row] != EMPTY]]


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 5))
def test_the_sample_is_that_of_the_highest_numbers(seed: int, contexts: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    acts = rng.choice(np.array([-3, 0, 0.3, 0.5, 1, 1.99, 2, 700], np.float32), (contexts, WINDOW, 2))
    lengths = rng.integers(0, WINDOW + 1, contexts)
    bands = _sampled(acts, rows, lengths=lengths)
    number = {n: float(sampling._hashed(np.array([n << CONTEXT_BITS]))[0]) for n in range(contexts)}
    where = octaves(torch.from_numpy(acts)).numpy()
    for unit in range(2):
        for octave in range(OCTAVES):
            holding = [n for n in range(contexts) if (where[n, 1 : lengths[n], unit] == octave).any()]
            assert _contexts(bands, unit, octave) == sorted(holding, key=lambda n: -number[n])[:KEPT]


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_parts_of_a_corpus_merge_to_the_whole(seed: int, contexts: int) -> None:
    rng = np.random.default_rng(seed)
    acts = rng.normal(0, 2, (contexts, WINDOW, 2)).astype(np.float32)
    whole, first = _sampled(acts, 4), _sampled(acts[: contexts // 2], 4)
    merge(first.lists, _sampled(acts[contexts // 2 :], 4, first=contexts // 2).lists)
    np.testing.assert_array_equal(first.lists.document_FK, whole.lists.document_FK)
    np.testing.assert_array_equal(first.lists.peak_FK, whole.lists.peak_FK)


def test_any_context_of_an_octave_is_as_likely_as_any_other() -> None:
    contexts, trials = 12, 600
    chosen = np.zeros(contexts)
    acts = np.ones((contexts, WINDOW, 1), np.float32)
    for trial in range(trials):
        bands = _sampled(acts, contexts, first=trial * contexts)
        chosen[[n - trial * contexts for n in _contexts(bands, 0, int(octaves(torch.ones(1))[0]))]] += 1
    expected = trials * KEPT / contexts
    assert chosen.sum() == trials * KEPT
    assert abs(chosen - expected).max() < 5 * np.sqrt(expected)


def test_any_token_of_an_octave_is_as_likely_as_any_other() -> None:
    shown = np.zeros(WINDOW)
    acts = np.ones((900, WINDOW, 1), np.float32)
    for context in range(900):
        lists = _sampled(acts[:1], 1, first=context).lists
        shown[lists.peak_FK[lists.value_FK != EMPTY]] += 1
    assert shown[0] == 0
    assert abs(shown[1:] - 180).max() < 5 * np.sqrt(180)


@pytest.mark.parametrize("holding", [0, 1, KEPT - 1, KEPT, KEPT + 1])
def test_a_band_of_few_contexts_ends(holding: int) -> None:
    acts = np.full((8, WINDOW, 1), 0.25, np.float32)
    acts[:holding, 3] = 8.0
    bands = _sampled(acts, 3)
    lists = cut(bands, np.array([8.0], np.float32), 0, KEPT)
    assert (lists.document_FK >= 0).sum() == min(holding, KEPT)
    assert (lists.value_FK[lists.document_FK >= 0] == 8.0).all()
    assert (lists.peak_FK[lists.document_FK >= 0] == 3).all()


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_every_value_falls_in_exactly_one_band_between_its_edges(values: list[float]) -> None:
    acts = np.array(values, np.float32)
    greatest = acts.max(keepdims=True)
    edges, octave = band_edges(greatest)[0], octaves(torch.from_numpy(acts)).numpy()
    assert len(edges) == BANDS + 1
    inside = np.array([band_octaves(greatest, band)[0][octave] for band in range(BANDS)])
    assert (inside.sum(axis=0) == 1).all()
    for value, band in zip(acts, inside.argmax(axis=0), strict=True):
        assert edges[band + 1] <= value < edges[band]


def test_little_room_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    acts = np.random.default_rng(0).normal(0, 2, (30, WINDOW, 3)).astype(np.float32)
    plenty = _sampled(acts, 4)
    monkeypatch.setattr("model_runner.collect.waiting.LEAST_ROOM", 2)
    scarce = _sampled(acts, 4)
    np.testing.assert_array_equal(plenty.lists.document_FK, scarce.lists.document_FK)


def test_a_document_longer_than_its_place_in_a_number_is_named_all_the_same() -> None:
    """A text of 16,777,216 tokens and more: the start of its later contexts reaches over into the document's number."""
    acts = np.full((1, WINDOW, 1), 1.5, np.float32)
    late = replace(_block(acts, 7, np.full(1, WINDOW)), start_B=np.array([(1 << CONTEXT_BITS) + 5]))
    bands = no_bands(1, KEPT, WINDOW, 1)
    sample(bands, look(torch.from_numpy(acts), late), None)
    settle_bands(bands)
    lists = cut(bands, np.array([1.5], np.float32), 0, KEPT)
    assert lists.document_FK.tolist() == [[7, -1, -1]]
    assert lists.start_FK[0, 0] == (1 << CONTEXT_BITS) + 5
