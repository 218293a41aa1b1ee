"""Units that are read together: a layer's neurons, or the random directions among them."""

# Shape suffixes: B contexts of a block, T tokens of a context, F neurons of a layer, U units of a group.
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.collect import capture, spread, top
from model_runner.collect.bands import Bands, no_bands, sample, settle_bands
from model_runner.collect.capture import AfterOf, ClusterOf, Gathered, Seen, gather, look, nothing_gathered
from model_runner.collect.config import CollectSettings
from model_runner.collect.contexts import Block
from model_runner.collect.directions import random_directions
from model_runner.collect.spread import Spread, count, no_spread, widen
from model_runner.collect.waiting import settle
from model_runner.run.arrays import KINDS
from model_runner.subject import After, Reader

BAND_KEPT = 5
"""Contexts sampled from each octave, and so shown of each band."""


@dataclass
class Group:
    """What is known of some units of one layer so far."""

    kind: int
    """Index into KINDS."""
    layer: int
    directions_FU: Tensor | None
    """The unit vectors, where the units are directions."""
    highest: Gathered
    lowest: Gathered | None
    spread: Spread | None
    bands: Bands | None

    @property
    def units(self) -> int:
        return len(self.highest.finite_F)

    @property
    def gathered(self) -> list[Gathered]:
        return [self.highest] if self.lowest is None else [self.highest, self.lowest]


def new_groups(model: Reader, hidden: int, settings: CollectSettings) -> list[Group]:
    """The neurons of every layer, then the directions of every layer: the order of the run folder's units."""
    neurons = [
        _new_group("neuron", layer, None, hidden, norm, model.device, settings)
        for layer, norm in enumerate(model.norms)
    ]
    if not settings.directions:
        return neurons
    drawn = [
        random_directions(layer, hidden, settings.directions, settings.directions_seed).to(model.device)
        for layer in range(len(neurons))
    ]
    return neurons + [
        _new_group("direction", layer, drawn[layer], settings.directions, norm, model.device, settings)
        for layer, norm in enumerate(model.norms)
    ]


def _new_group(
    kind: str,
    layer: int,
    directions_FU: Tensor | None,
    units: int,
    norm: After | None,
    device: torch.device,
    settings: CollectSettings,
) -> Group:
    shape = (units, settings.kept, settings.window, 1 if norm is None else 2)
    return Group(
        kind=KINDS.index(kind),
        layer=layer,
        directions_FU=directions_FU,
        highest=nothing_gathered(*shape),
        lowest=nothing_gathered(*shape, sign=-1) if settings.complete else None,
        spread=no_spread(units, device) if settings.complete else None,
        bands=no_bands(units, BAND_KEPT, *shape[2:]) if settings.complete else None,
    )


@torch.inference_mode()
def read_layer(
    groups: Sequence[Group], acts_BTF: Tensor, block: Block, cluster_of: ClusterOf, norm: After | None
) -> None:
    """Let the groups of one layer see its float32 activations of a block."""
    for group in groups:
        acts_BTU = acts_BTF if group.directions_FU is None else acts_BTF @ group.directions_FU
        after = None if norm is None else _after(norm, acts_BTF, group.directions_FU)
        _take(group, look(acts_BTU, block, least=group.lowest is not None), cluster_of, after)


def _after(norm: After, acts_BTF: Tensor, directions_FU: Tensor | None) -> AfterOf:
    return _neurons_after(norm, acts_BTF) if directions_FU is None else _directions_after(norm, acts_BTF, directions_FU)


def _neurons_after(norm: After, acts_BTF: Tensor) -> AfterOf:
    """Only what is asked for is worked out."""
    moments = cache(lambda: norm.moments(acts_BTF))

    def after(
        acts_ET: NDArray[np.float32], rows_E: NDArray[np.int64], units_E: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        acts, rows, units = (torch.from_numpy(array).to(acts_BTF.device) for array in (acts_ET, rows_E, units_E))
        return norm.at(acts, moments(), rows, units).numpy(force=True)

    return after


def _directions_after(norm: After, acts_BTF: Tensor, directions_FU: Tensor) -> AfterOf:
    """Each context is normed once, by whoever asks first, since a direction needs all its neurons."""
    along = cache(lambda row: (norm(acts_BTF[row]) @ directions_FU).numpy(force=True))

    def after(
        acts_ET: NDArray[np.float32], rows_E: NDArray[np.int64], units_E: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        del acts_ET
        return np.stack([along(row)[:, unit] for row, unit in zip(rows_E.tolist(), units_E.tolist(), strict=True)])

    return after


def _take(group: Group, seen: Seen, cluster_of: ClusterOf, after: AfterOf | None) -> None:
    for gathered in group.gathered:
        gather(gathered, seen, cluster_of, after)
    if group.spread is not None and seen.least_RF is not None:
        widen(group.spread, seen.least_RF, seen.greatest_RF)
        for row in seen.rows_R.tolist():
            count(group.spread, seen.ranked(row))
    if group.bands is not None:
        sample(group.bands, seen, after)


def settle_groups(groups: Sequence[Group], unfinished: int) -> None:
    """Sort what waits into the lists, but for what belongs to the unfinished document, or -1."""
    for gathered in (gathered for group in groups for gathered in group.gathered):
        settle(gathered.waiting, gathered.lists, unfinished)
    for bands in (group.bands for group in groups if group.bands is not None):
        settle_bands(bands)


def merge_groups(groups: Sequence[Group], others: Sequence[Group]) -> None:
    """Let in what the same units gathered over other documents, when both are settled."""
    for group, other in zip(groups, others, strict=True):
        for mine, theirs in zip(group.gathered, other.gathered, strict=True):
            capture.merge(mine, theirs)
        if group.spread is not None and other.spread is not None:
            spread.merge(group.spread, other.spread)
        if group.bands is not None and other.bands is not None:
            top.merge(group.bands.lists, other.bands.lists)
