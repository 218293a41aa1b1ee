"""Which snippets of a unit make an item: the strongest alone, or across the whole range of its activations. Pure.

Band 0 is the octave of the greatest activation, which the strongest snippets come from already; each band after it
is an octave lower, and the last one holds everything below, so that a spectrum shows where a unit hardly fires too.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from app.studies.design import Design
from app.studies.draw import quotas

TOP = "top"
BANDS = tuple(f"band-{number}" for number in range(1, 6))
Kept = TypeVar("Kept")


def sections(design: Design) -> dict[str, int]:
    """How many snippets of an item come from which section of a run folder, in the order they are ranked."""
    if design.snippet_choice == TOP:
        return {TOP: design.snippets}
    strongest = (design.snippets + 1) // 2
    each = quotas(design.snippets - strongest, range(len(BANDS)))
    return {TOP: strongest} | {BANDS[number]: count for number, count in each.items() if count}


def chosen(
    wanted: dict[str, int], read: Callable[[str], Sequence[Kept]], place: Callable[[Kept], Hashable]
) -> list[Kept] | None:
    """The snippets of one unit, the strongest first; None where a section has too few.

    A snippet of a band that is among the strongest already is passed over: nothing is shown twice.
    """
    found: list[Kept] = []
    for section, count in wanted.items():
        seen = {place(one) for one in found}
        fresh = [one for one in read(section) if place(one) not in seen][:count]
        if len(fresh) < count:
            return None
        found += fresh
    return found
