"""Freezing: the draw is made, every item is rendered once, and all are padded to one length."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.rating.ranks import ranked
from app.rating.shading import Fragments, pad, render_item
from app.reports.statistics.plan import Plan
from app.studies.design import Design
from app.studies.draw import RANK, Allocation, DrawnItem, draw
from app.studies.importing import Arm, read_arms, snippets_of
from app.studies.seal import Record, content_digest, sealed

Watch = Callable[[Iterable[DrawnItem], int], Iterable[DrawnItem]]
"""Passes items on and shows how many of them are done."""


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """A study that is ready to be written down."""

    secret: bytes
    arms: list[Arm]
    allocation: Allocation
    fragments: dict[str, Fragments]
    """By the item's code, all of one length."""
    record: Record
    simulated: bool


def unwatched(items: Iterable[DrawnItem], _total: int) -> Iterable[DrawnItem]:
    return items


def freeze(
    design: Design, folders: Sequence[Path], secret: bytes, *, simulated: bool = False, watch: Watch = unwatched
) -> Frozen:
    """Read the runs, draw, render and seal. Touches no database. Raises Invalid where the runs do not fit."""
    arms = read_arms(folders, design)
    allocation = draw(secret, design, [arm.offer for arm in arms])
    fragments = _padded(
        {
            item.code: _render(arms[item.unit.arm], item, design)
            for item in watch(allocation.items, len(allocation.items))
        }
    )
    contents = {code: content_digest(both.narrow, both.wide) for code, both in fragments.items()}
    plan = plan_for({arm.info.condition for arm in arms}, simulated=simulated)
    record = sealed(design, plan, [arm.sealed() for arm in arms], contents, allocation, secret)
    return Frozen(
        secret=secret, arms=arms, allocation=allocation, fragments=fragments, record=record, simulated=simulated
    )


def plan_for(conditions: set[str], *, simulated: bool) -> dict[str, Any]:
    """The plan of the analysis with its defaults: the paper's rules, GELU as the baseline where there is one."""
    plan = Plan(baseline="gelu" if "gelu" in conditions else min(conditions), simulated=simulated)
    return plan.as_dict()


def _render(arm: Arm, item: DrawnItem, design: Design) -> Fragments:
    snippets = snippets_of(arm, item, design, design.wide_tokens)
    if item.shading == RANK:
        snippets = ranked(snippets)
    return render_item(snippets, design.tokens, design.wide_tokens)


def _padded(fragments: dict[str, Fragments]) -> dict[str, Fragments]:
    narrow = max(len(both.narrow) for both in fragments.values())
    wide = max(len(both.wide) for both in fragments.values())
    return {code: Fragments(pad(both.narrow, narrow), pad(both.wide, wide)) for code, both in fragments.items()}
