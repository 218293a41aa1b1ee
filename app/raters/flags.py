"""What in a rater's way of working deserves a look. Says nothing about any neuron. Needs no database."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from app.words.language import N_

QUICK_SECONDS = 8
"""Twenty snippets cannot be read in less."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """Counts of one rater's verdicts as they stand."""

    verdicts: int = 0
    quick: int = 0
    """Given under QUICK_SECONDS after the neuron was shown."""
    commonest: int = 0
    """Verdicts that are what this rater says most often."""
    skipped: int = 0
    repeats: int = 0
    """Neurons rated twice without being told."""
    repeats_same: int = 0
    controls: int = 0
    """Items whose snippets come from as many different neurons."""
    controls_yes: int = 0
    """Of them, called interpretable."""


def blind(work: Work) -> Work:
    """The same without what would tell somebody which of the neurons they rated were controls or repeats."""
    return replace(work, repeats=0, repeats_same=0, controls=0, controls_yes=0)


class Flag(NamedTuple):
    message: str
    """To be translated, then filled with the values."""
    values: Mapping[str, int]


def flags(work: Work) -> list[Flag]:
    """A few of anything is chance: each flag wants a number and a share."""
    found = []
    if work.quick >= 5 and work.quick > 0.1 * work.verdicts:
        found.append(Flag(N_("%(n)s verdicts under %(seconds)s s"), {"n": work.quick, "seconds": QUICK_SECONDS}))
    if work.verdicts >= 20 and work.commonest == work.verdicts:
        found.append(Flag(N_("the same verdict %(n)s times out of %(n)s"), {"n": work.verdicts}))
    if work.skipped >= 3 and work.skipped > 0.1 * (work.verdicts + work.skipped):
        found.append(Flag(N_("%(n)s neurons given back as broken"), {"n": work.skipped}))
    if work.repeats >= 5 and work.repeats_same < 0.7 * work.repeats:
        found.append(Flag(N_("repeats: %(same)s of %(n)s the same"), {"same": work.repeats_same, "n": work.repeats}))
    if work.controls >= 4 and work.controls_yes > 0.5 * work.controls:
        values = {"yes": work.controls_yes, "n": work.controls}
        found.append(Flag(N_("controls: %(yes)s of %(n)s called interpretable"), values))
    return found
