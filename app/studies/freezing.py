"""Freezing: the draw is made, every item is rendered once, and all are padded to one length."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.errors import Invalid
from app.rating.shading import Fragments
from app.reports.statistics.plan import Plan
from app.studies.asked import USUAL_PLAN
from app.studies.design import Design
from app.studies.draw import Allocation, DrawnItem
from app.studies.importing import Arm, read_arms
from app.studies.other_runs import OtherRun, read_others
from app.studies.rendering import padded, rendered
from app.studies.seal import Record, content_digest, sealed
from app.studies.whole_draw import draw_whole
from app.words.said import N_

Watch = Callable[[Iterable[DrawnItem], int], Iterable[DrawnItem]]
"""Passes items on and shows how many of them are done."""


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """A study that is ready to be written down."""

    secret: bytes
    arms: list[Arm]
    allocation: Allocation
    fragments: dict[str, Fragments]
    """By the item's code; those that stand in one place are of one length."""
    record: Record
    simulated: bool


def unwatched(items: Iterable[DrawnItem], _total: int) -> Iterable[DrawnItem]:
    return items


def freeze(
    design: Design,
    folders: Sequence[Path],
    secret: bytes,
    *,
    plan: Plan = USUAL_PLAN,
    simulated: bool = False,
    watch: Watch = unwatched,
) -> Frozen:
    """Read the runs, draw, render and seal. Touches no database. Raises Invalid where the runs do not fit."""
    arms = read_arms(folders, design)
    others = [read_others(arm, design) for arm in arms]
    allocation = draw_whole(
        secret, design, [arm.offer for arm in arms],
        [{split: other.offer for split, other in of_arm.items()} for of_arm in others],
    )  # fmt: skip
    items = {item.code: rendered(arms, others, item, design) for item in watch(allocation.items, len(allocation.items))}
    fragments = padded(allocation.items, {code: item.fragments for code, item in items.items()})
    contents = {code: content_digest(both.narrow, both.wide) for code, both in fragments.items()}
    planned = plan_for({arm.info.condition for arm in arms}, design, plan, simulated=simulated)
    lessons = {code: item.lesson for code, item in items.items() if item.lesson}
    sealed_arms = [_sealed(arm, of_arm) for arm, of_arm in zip(arms, others, strict=True)]
    record = sealed(design, planned, sealed_arms, contents, allocation, secret, lessons)
    return Frozen(
        secret=secret, arms=arms, allocation=allocation, fragments=fragments, record=record, simulated=simulated
    )


def plan_for(conditions: set[str], design: Design, asked: Plan = USUAL_PLAN, *, simulated: bool) -> dict[str, Any]:
    """The whole plan of the analysis: what is asked for, GELU as the baseline where there is one and none is named.

    Verdicts on a spectrum are about something else than verdicts on the strongest firings, so the plan says which.
    Raises Invalid where the baseline is no condition of the study, and where raters are to guess the only one.
    """
    baseline = asked.baseline or ("gelu" if "gelu" in conditions else min(conditions))
    if baseline not in conditions:
        raise Invalid(
            N_("The plan compares with “%(name)s”, and the runs are of %(those)s. Choose one of these."),
            name=baseline, those=", ".join(sorted(conditions)),
        )  # fmt: skip
    if design.guesses and len(conditions) < 2:
        raise Invalid(
            N_("All runs are of one condition, %(name)s, so there is nothing to guess. Ask for no guesses."),
            name=baseline,
        )
    return replace(asked, baseline=baseline, estimand=design.snippet_choice, simulated=simulated).as_dict()


def _sealed(arm: Arm, others: Mapping[str, OtherRun]) -> dict[str, Any]:
    """What the seal fixes about an arm."""
    runs = {split: other.sealed() for split, other in sorted(others.items())}
    return arm.sealed() | ({"other_runs": runs} if runs else {})
