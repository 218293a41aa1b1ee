"""From samples by octave to the bands of each unit, counted down from its greatest activation.

Band 0 is the octave of the greatest value, band 1 the octave below it, and so on; the last band holds
everything below, zero and negative values with it. Bands of one unit differ in activation by a factor of
two, whatever the scale of its model.
"""

# Shape suffixes: U units, O octaves, K kept, N bands.
import numpy as np
from numpy.typing import NDArray

from model_runner.collect.bands import CONTEXT_BITS, LOWEST_OCTAVE, OCTAVES, Bands
from model_runner.collect.top import EMPTY, TopLists, lists_over

BANDS = 6


def band_octaves(greatest_U: NDArray[np.float32], band: int) -> NDArray[np.bool_]:
    """Which octaves (units, octaves) belong to the band."""
    octave_O, top_U = np.arange(OCTAVES), _octave(greatest_U)
    wanted_U = top_U[:, None] - band
    inside_UO: NDArray[np.bool_] = octave_O <= wanted_U if band == BANDS - 1 else octave_O == wanted_U
    return inside_UO


def band_edges(greatest_U: NDArray[np.float32]) -> NDArray[np.float32]:
    """The edges (units, BANDS + 1), falling: band b is at least edge b + 1 and below edge b."""
    lower_UN = _octave(greatest_U)[:, None] - np.arange(BANDS - 1)
    edge_UN = np.where(lower_UN > 0, 2.0 ** (LOWEST_OCTAVE + lower_UN - 1.0), -np.inf)
    infinite = np.full((len(greatest_U), 1), np.inf)
    above = np.where(lower_UN[:, :1] < OCTAVES - 1, 2 * edge_UN[:, :1], infinite)
    above = np.where(lower_UN[:, :1] > 0, above, 2.0**LOWEST_OCTAVE)
    return np.concatenate([above, edge_UN, -infinite], axis=1).astype(np.float32)


def _octave(greatest_U: NDArray[np.float32]) -> NDArray[np.int64]:
    exponent_U = np.frexp(np.where(greatest_U > 0, greatest_U, 0))[1].astype(np.int64) - 1
    octave_U = np.clip(exponent_U - LOWEST_OCTAVE + 1, 0, OCTAVES - 1)
    return np.where(greatest_U > 0, octave_U, 0)


def cut(bands: Bands, greatest_U: NDArray[np.float32], band: int, kept: int) -> TopLists:
    """The lists (units, kept) of one band: of its octaves' contexts those with the highest numbers.

    A context with tokens in several of the band's octaves comes once, with the token of the highest one.
    """
    lists = bands.lists
    units = len(greatest_U)
    inside = band_octaves(greatest_U, band).ravel()[:, None] & (lists.value_FK != EMPTY)
    rows, places = np.nonzero(inside)
    order = np.lexsort((-rows, lists.document_FK[rows, places], -lists.value_FK[rows, places], rows // OCTAVES))
    rows, places = rows[order], places[order]
    unit_E, context_E = rows // OCTAVES, lists.document_FK[rows, places]
    first_E = np.append(True, (np.diff(unit_E) != 0) | (np.diff(context_E) != 0))[: len(rows)]
    rows, places, unit_E = rows[first_E], places[first_E], unit_E[first_E]
    place_E = np.arange(len(rows)) - np.searchsorted(unit_E, unit_E)
    chosen_E = place_E < kept
    rows, places, unit_E, place_E = rows[chosen_E], places[chosen_E], unit_E[chosen_E], place_E[chosen_E]
    return _gathered(lists, (units, kept), (rows, places), (unit_E, place_E))


def _gathered(
    lists: TopLists,
    shape: tuple[int, int],
    source: tuple[NDArray[np.int64], NDArray[np.int64]],
    target: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> TopLists:
    """New lists with the entries at `source` put at `target`, their windows where they are; the document is the
    document's again."""
    out = lists_over(lists.windows_PSW, shape)
    # The start is taken away first: in a document longer than 2^CONTEXT_BITS tokens it reaches into the number.
    out.document_FK[target] = (lists.document_FK[source] - lists.start_FK[source]) >> CONTEXT_BITS
    out.start_FK[target], out.peak_FK[target] = lists.start_FK[source], lists.peak_FK[source]
    out.window_FK[target] = lists.window_FK[source]
    # What is shown as the snippet's value is the activation; the random number has done its work.
    out.value_FK[target] = lists.windows_PSW[out.window_FK[target], 0, out.peak_FK[target]]
    return out
