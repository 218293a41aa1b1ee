"""Units that are read together: a layer's neurons, or the random directions among them."""

# Shape suffixes: B contexts of a block, T tokens of a context, F neurons of a layer, U units of a group.
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from model_runner.bands import Bands, no_bands, sample, settle_bands
from model_runner.capture import AfterOf, ClusterOf, Gathered, gather, nothing_gathered, ranked_tokens
from model_runner.collect_config import CollectSettings
from model_runner.contexts import Block
from model_runner.directions import random_directions
from model_runner.run_folder import KINDS
from model_runner.spread import Spread, count, no_spread
from model_runner.subject import After, Reader
from model_runner.waiting import settle

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
    after = None if norm is None else _after(norm, acts_BTF, block)
    for group in groups:
        if group.directions_FU is None:
            _read(group, acts_BTF, block, cluster_of, after)
        else:
            along = None if after is None else _along(after, group.directions_FU)
            _read(group, acts_BTF @ group.directions_FU, block, cluster_of, along)


def _after(norm: After, acts_BTF: Tensor, block: Block) -> AfterOf:
    """Each row is normed once, by whoever asks first."""
    return cache(lambda row: norm(acts_BTF[row, : int(block.length_B[row])]))


def _along(after: AfterOf, directions_FU: Tensor) -> AfterOf:
    return lambda row: after(row) @ directions_FU


def _read(group: Group, acts_BTU: Tensor, block: Block, cluster_of: ClusterOf, after: AfterOf | None) -> None:
    for gathered in group.gathered:
        gather(gathered, acts_BTU, block, cluster_of, after)
    if group.spread is not None:
        for row in np.flatnonzero(block.rankable_BT.any(axis=1)):
            count(group.spread, ranked_tokens(acts_BTU[row], block.rankable_BT[row]))
    if group.bands is not None:
        sample(group.bands, acts_BTU, block, after)


def settle_groups(groups: Sequence[Group], unfinished: int) -> None:
    """Sort what waits into the lists, but for what belongs to the unfinished document, or -1."""
    for gathered in (gathered for group in groups for gathered in group.gathered):
        settle(gathered.waiting, gathered.lists, unfinished)
    for bands in (group.bands for group in groups if group.bands is not None):
        settle_bands(bands)
