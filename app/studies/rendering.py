"""Drawn items become HTML, and all that raters meet in one place become equally long."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.rating.held_out import render_held_out
from app.rating.ranks import ranked
from app.rating.shading import Fragments, pad, render_item
from app.rating.snippets import on_each_side, reach
from app.studies.design import Design
from app.studies.draw import RANK, DrawnItem
from app.studies.importing import Arm, snippets_of
from app.studies.other_runs import OtherRun, check_snippets, lesson, practice_snippets


class Rendered(NamedTuple):
    """An item as raters see it, not yet padded."""

    fragments: Fragments
    lesson: dict[str, Any] | None
    """What it teaches; None for what is not practice."""


def rendered(
    arms: Sequence[Arm], others: Sequence[Mapping[str, OtherRun]], item: DrawnItem, design: Design
) -> Rendered:
    arm = item.unit.arm
    if item.kind == "check":
        held_out = check_snippets(others[arm]["check"], item, design)
        return Rendered(render_held_out(held_out, design.tokens), None)
    if item.kind == "practice":
        snippets = practice_snippets(others[arm]["practice"], item, design)
        return Rendered(render_item(snippets, design.tokens, design.wide_tokens), lesson(item, snippets))
    if item.shading == RANK:  # among all that are so near, those on the right that are not shown included
        snippets = ranked(snippets_of(arms[arm], item, design, on_each_side(design.wide_tokens)))
    else:
        snippets = snippets_of(arms[arm], item, design, reach(design.wide_tokens))
    return Rendered(render_item(snippets, design.tokens, design.wide_tokens), None)


def padded(items: Sequence[DrawnItem], fragments: Mapping[str, Fragments]) -> dict[str, Fragments]:
    """By the item's code, of one length for each of: what is rated, practice, the check."""
    out: dict[str, Fragments] = {}
    for place in ({"practice"}, {"check"}, {item.kind for item in items} - {"practice", "check"}):
        group = {item.code: fragments[item.code] for item in items if item.kind in place}
        narrow = max((len(both.narrow) for both in group.values()), default=0)
        wide = max((len(both.wide) for both in group.values()), default=0)
        out |= {code: Fragments(pad(both.narrow, narrow), pad(both.wide, wide)) for code, both in group.items()}
    return out
