"""The hypothesis check: for a neuron that is rated, held-out snippets on half of which it fires. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from app.studies.design import Design
from app.studies.draw import SHOWN, DrawnItem, Offer, Secret, drawn_item, quotas

FIRING = range(5)
"""Bands of a run folder that count as firing: five octaves down from the neuron's greatest activation."""
QUIET = 5
"""The band of everything below, zero and negative values with it."""


def bands(snippets: int) -> list[int]:
    """The band of each snippet of a check before they are shuffled: half of them fire, spread over the octaves."""
    each = quotas(snippets // 2, FIRING)
    firing = [band for band in FIRING for _ in range(each[band])]
    return firing + [QUIET] * (snippets - len(firing))


def sections(snippets: int) -> dict[str, int]:
    """How many snippets of a check come from which section of a run folder."""
    found = bands(snippets)
    return {f"band-{band}": found.count(band) for band in dict.fromkeys(found)}


def draw_checks(
    chance: Secret, design: Design, offers: Sequence[Offer], items: Iterable[DrawnItem]
) -> Iterator[DrawnItem]:
    """An item for each rated neuron that has enough held-out snippets; `offers` are of runs on the split check."""
    for item in items:
        arm, kind, layer, index = item.unit
        if item.kind == "neuron" and kind == "neuron" and offers[arm][layer][index] == SHOWN:
            order = chance.shuffled(range(design.check_snippets), "held out", arm, layer, index)
            drawn = drawn_item(chance, design, "check", item.unit, item.neurons, 0, item.code)
            yield drawn._replace(order=tuple(order))
