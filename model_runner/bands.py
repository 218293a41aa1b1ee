"""An unbiased sample of contexts over the whole range of a unit's activations.

Every context has a random number of its own, a hash of its place in the corpus. For each unit and octave of
activation, the contexts that hold a rankable token in the octave and have the highest numbers are kept: any
such context is as likely as any other, one pass suffices, and passes over parts of a corpus merge exactly.
The token that is shown is a random one of those in the octave. Octaves become bands when the pass is over
and the unit's greatest activation is known: see `banded`.
"""

# Shape suffixes: B contexts of a block, T tokens of a context, U units, O octaves, E candidates, P units with any.
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.capture import AfterOf, Seen, copy_windows
from model_runner.top import TopLists, empty_lists
from model_runner.waiting import Waiting, empty_waiting, reserve, room_for, settle, take_places

OCTAVES, LOWEST_OCTAVE = 31, -22
"""Octave 0 holds all below 2^LOWEST_OCTAVE, zero and negative values with it; octave o > 0 begins at
2^(LOWEST_OCTAVE + o - 1), and the last has no end. Their bits fit into an int32."""
CONTEXT_BITS = 24
"""A context's number is its document's, shifted by this, plus its start in the document."""


@dataclass
class Bands:
    """The samples so far. Unit u and octave o are row u * OCTAVES + o of the lists, whose value is the
    context's random number and whose document is the context's number. A unit has a window of a context once,
    however many of its octaves keep that context."""

    lists: TopLists
    waiting: Waiting


def no_bands(units: int, kept: int, window: int, sides: int) -> Bands:
    # Places for windows that are never needed are never touched, and so take no memory.
    lists = empty_lists(units * OCTAVES, kept, window, sides, spare=room_for(units))
    return Bands(lists, empty_waiting(lists, room_for(units * OCTAVES)))


@torch.inference_mode()
def sample(bands: Bands, seen: Seen, after: AfterOf | None) -> None:
    """Take what enters the samples from a block."""
    for row in seen.rows_R.tolist():
        context = (int(seen.block.document_B[row]) << CONTEXT_BITS) + int(seen.block.start_B[row])
        number = float(_hashed(np.array([context]))[0])
        octaves_TU = octaves(seen.ranked(row)).numpy(force=True)
        units_E, octaves_E = _entering(bands, octaves_TU, number)
        if len(units_E):
            units_P, place_E = np.unique(units_E, return_inverse=True)
            _make_room(bands, len(units_E), len(units_P))
            found = reserve(bands.waiting, len(units_E))
            found.unit_E[:], found.value_E[:] = units_E * OCTAVES + octaves_E, number
            found.document_E[:], found.cluster_E[:], found.start_E[:] = context, context, seen.block.start_B[row]
            tokens_E = _random_tokens(octaves_TU[:, units_P], context)[octaves_E, place_E]
            found.peak_E[:] = np.flatnonzero(seen.block.rankable_BT[row])[tokens_E]
            places_P = take_places(bands.waiting, len(units_P))
            found.window_E[:] = places_P[place_E]
            rows_P = np.full(len(units_P), row)
            copy_windows(bands.lists.windows_PSW, places_P, seen.acts_BTF, after, rows_P, units_P)


def _make_room(bands: Bands, candidates: int, windows: int) -> None:
    """There is room for every octave of every unit, so that one context always fits."""
    if bands.waiting.room < candidates or len(bands.waiting.free_P) < windows:
        settle_bands(bands)


def _random_tokens(octaves_TP: NDArray[np.int32], context: int) -> NDArray[np.int64]:
    """A random token (octaves, units) of each octave that a unit is in. Of repeated places NumPy keeps the last."""
    order_T = np.argsort(_hashed(context + (np.arange(len(octaves_TP)) << 48)))
    tokens_OP = np.zeros((OCTAVES, octaves_TP.shape[1]), np.int64)
    tokens_OP[octaves_TP[order_T], np.arange(octaves_TP.shape[1])] = order_T[:, None]
    return tokens_OP


def octaves(acts_TU: Tensor) -> Tensor:
    """The octave of each activation, 0 to OCTAVES - 1, from the exponent's bits; negative ones are in 0."""
    first = 127 + LOWEST_OCTAVE - 1
    return (acts_TU.contiguous().view(torch.int32) >> 23).sub_(first).clamp_(0, OCTAVES - 1)


def _entering(
    bands: Bands, octaves_TU: NDArray[np.int32], number: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Units and octaves whose samples a context of this number enters, since a token of it is there."""
    seen_U = np.bitwise_or.reduce(np.left_shift(np.int32(1), octaves_TU), axis=0)
    open_UO = (bands.lists.value_FK[:, -1] < number).reshape(-1, OCTAVES)
    open_U = open_UO @ (np.int32(1) << np.arange(OCTAVES, dtype=np.int32))
    hit_U = seen_U & open_U
    units = np.flatnonzero(hit_U)
    places, octaves_E = np.nonzero(hit_U[units, None] >> np.arange(OCTAVES) & 1)
    return units[places], octaves_E


def _hashed(numbers: NDArray[np.int64]) -> NDArray[np.float32]:
    """Numbers in [0, 1) that look random: the finalizer of SplitMix64 (Steele et al. 2014), its high bits."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    high = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(40)
    return (high / np.float64(1 << 24)).astype(np.float32)


def settle_bands(bands: Bands) -> None:
    """Sort what waits into the samples. No context is ever unfinished."""
    settle(bands.waiting, bands.lists, unfinished=-1)
