"""An unbiased sample of contexts over the whole range of a unit's activations.

Every context has a random number of its own, a hash of its place in the corpus. For each unit and octave of
activation, the contexts that hold a rankable token in the octave and have the highest numbers are kept: any
such context is as likely as any other, one pass suffices, and passes over parts of a corpus merge exactly.
The token that is shown is a random one of those in the octave. Octaves become bands when the pass is over
and the unit's greatest activation is known: see `banded`.
"""

# Shape suffixes: B contexts of a block, T tokens of a context, U units, O octaves, E candidates, P units with any.
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.collect.capture import AfterOf, Seen, copy_windows
from model_runner.collect.top import TopLists, empty_lists, place
from model_runner.collect.waiting import Waiting, empty_waiting, hold_back, reserve, room_for, take_places

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
    """Samples of `kept` contexts of `window` tokens for each unit and octave, with nothing in them; `sides` as in
    `top.empty_lists`."""
    # Places for windows that are never needed are never touched, and so take no memory.
    lists = empty_lists(units * OCTAVES, kept, window, sides, spare=room_for(units))
    return Bands(lists, empty_waiting(lists, room_for(units * OCTAVES)))


@torch.inference_mode()
def sample(bands: Bands, seen: Seen, after: AfterOf | None) -> None:
    """Take what enters the samples from a block."""
    # Sorting between two contexts would raise it; what enters in vain does not get in later.
    floor_UO = _floor(bands)
    for row, greatest_U in zip(seen.rows_R.tolist(), seen.greatest_RF, strict=True):
        context = (int(seen.block.document_B[row]) << CONTEXT_BITS) + int(seen.block.start_B[row])
        number = float(_hashed(np.array([context]))[0])
        entering = _entering(_open(floor_UO, number), seen.ranked(row), greatest_U, context)
        if len(entering.units_E):
            _add(bands, entering, number, context, seen, row, after)


class Entering(NamedTuple):
    """What enters the samples from one context: a token for each of some octaves of some units."""

    units_E: NDArray[np.int64]
    octaves_E: NDArray[np.int64]
    tokens_E: NDArray[np.int64]
    """Among the rankable ones."""


def _add(
    bands: Bands, entering: Entering, number: float, context: int, seen: Seen, row: int, after: AfterOf | None
) -> None:
    """Let it wait. A unit's window is copied once for all its octaves."""
    units_P, place_E = np.unique(entering.units_E, return_inverse=True)
    _make_room(bands, len(place_E), len(units_P))
    places_P = take_places(bands.waiting, len(units_P))
    found = reserve(bands.waiting, len(place_E))
    found.unit_E[:], found.value_E[:] = entering.units_E * OCTAVES + entering.octaves_E, number
    found.document_E[:], found.cluster_E[:], found.start_E[:] = context, context, seen.block.start_B[row]
    found.peak_E[:] = np.flatnonzero(seen.block.rankable_BT[row])[entering.tokens_E]
    found.window_E[:] = places_P[place_E]
    copy_windows(bands.lists.windows_PSW, places_P, seen.acts_BTF, after, np.full(len(units_P), row), units_P)


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


def _floor(bands: Bands) -> NDArray[np.float32]:
    """The number in the last place of each octave of each unit, and infinity where 32 bits have no octave."""
    floor_UO = np.full((len(bands.lists.value_FK) // OCTAVES, 32), np.inf, np.float32)
    floor_UO[:, :OCTAVES] = bands.lists.value_FK[:, -1].reshape(-1, OCTAVES)
    return floor_UO


def _open(floor_UO: NDArray[np.float32], number: float) -> NDArray[np.int32]:
    """The octaves of each unit, as bits, whose last place a context of this number would take."""
    return np.packbits(floor_UO < number, axis=1, bitorder="little").view("<i4")[:, 0]


def _entering(open_U: NDArray[np.int32], acts_TU: Tensor, greatest_U: NDArray[np.float32], context: int) -> Entering:
    """The samples that a context enters, since a token of it is in an octave that is open.

    Only units that may enter one are looked at token by token: all in the first contexts, few later.
    """
    units_P = np.flatnonzero(open_U & _possible(acts_TU, greatest_U))
    octaves_TP = octaves(acts_TU.index_select(1, torch.from_numpy(units_P).to(acts_TU.device))).numpy(force=True)
    seen_P = np.bitwise_or.reduce(np.left_shift(np.int32(1), octaves_TP), axis=0)
    places_E, octaves_E = np.nonzero((seen_P & open_U[units_P])[:, None] >> np.arange(OCTAVES) & 1)
    tokens_E = _random_tokens(octaves_TP, context)[octaves_E, places_E]
    return Entering(units_P[places_E], octaves_E, tokens_E)


def _possible(acts_TU: Tensor, greatest_U: NDArray[np.float32]) -> NDArray[np.int64]:
    """The octaves, as bits, from that of the least positive value to that of the greatest, and the lowest octave."""
    least_U, greatest = octaves(_least_positive(acts_TU)).numpy(), octaves(torch.from_numpy(greatest_U)).numpy()
    return (np.int64(2) << greatest) - (np.int64(1) << least_U) | 1


def _least_positive(acts_TU: Tensor) -> Tensor:
    """Of each unit; any negative value where there is none."""
    if acts_TU.device.type != "cpu":
        return torch.where(acts_TU > 0, acts_TU, torch.inf).amin(dim=0).cpu()
    # The bits of a negative float, as an unsigned number, lie above those of all positive ones.
    return torch.from_numpy(acts_TU.numpy().view(np.uint32).min(axis=0).view(np.float32))


def _hashed(numbers: NDArray[np.int64]) -> NDArray[np.float32]:
    """Numbers in [0, 1) that look random: the finalizer of SplitMix64 (Steele et al. 2014), its high bits."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    high = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(40)
    return (high / np.float64(1 << 24)).astype(np.float32)


def settle_bands(bands: Bands) -> None:
    """Sort what waits into the samples. No context is ever unfinished, and none comes twice."""
    found = bands.waiting.candidates[: bands.waiting.used]
    place(bands.lists, found)
    hold_back(bands.waiting, bands.lists, found[:0])
