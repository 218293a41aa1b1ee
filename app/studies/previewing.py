"""A look at what raters will see, drawn with a secret that is thrown away: never the study's own draw."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.reports.statistics.plan import Plan
from app.studies.asked import USUAL_PLAN
from app.studies.creating import new_secret
from app.studies.design import Design
from app.studies.draw import draw
from app.studies.freezing import plan_for
from app.studies.importing import Arm, read_arms
from app.studies.planned import Planned, planned
from app.studies.rendering import padded, rendered

ITEMS = 3
CHECKBOX = re.compile(rb"<input type=checkbox id=w(\d+) [^>]*>")


@dataclass(frozen=True, kw_only=True)
class Preview:
    fragments: list[bytes]
    """HTML of a few items of all arms together, of one length. Nothing beside it says what they are."""
    planned: Planned
    runs: list[str]
    """Digests of the runs."""


def preview(design: Design, folders: Sequence[Path], plan: Plan = USUAL_PLAN) -> Preview:
    """Draw a study, show its first items, and forget it. Raises Invalid where the runs do not fit design and plan.

    The codes of items are random, so the first of them are a sample of all arms, and neither which arm, nor which
    neuron, nor what kind of item it is leaves this function.
    """
    arms = read_arms(folders, design, every_byte=False)
    plan_for({arm.info.condition for arm in arms}, design, plan, simulated=False)
    items = draw(new_secret(), design, [arm.offer for arm in arms]).items[:ITEMS]
    fragments = padded(items, {item.code: rendered(arms, [], item, design).fragments for item in items})
    return Preview(
        fragments=[_numbered(fragments[item.code].narrow, number) for number, item in enumerate(items, 1)],
        planned=planned_of(design, arms),
        runs=sorted(arm.info.digest for arm in arms),
    )


def _numbered(fragment: bytes, item: int) -> bytes:
    """Several items on one page: every checkbox keeps a name of its own. A text holds no unescaped “<input”."""
    return CHECKBOX.sub(
        rb'<input type=checkbox id=p%dw\1 aria-label=\1 aria-labelledby="w p%dw\1">' % (item, item), fragment
    )


def planned_of(design: Design, arms: Sequence[Arm]) -> Planned:
    return planned(design, [(arm.info.condition, arm.info.size) for arm in arms])
