"""The whole draw of a study: what is rated, and with it practice and the hypothesis check. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.errors import Invalid
from app.studies.checking import draw_checks
from app.studies.design import Design
from app.studies.draw import Allocation, Offer, Secret, draw
from app.studies.practice import check_practice, draw_practice
from app.words.said import N_

OtherOffers = Mapping[str, Offer]
"""What an arm's runs over other splits offer, by split."""


def splits(design: Design) -> list[str]:
    """Of which other splits the design needs a run of every model."""
    return ["practice"] * bool(design.practice_items) + ["check"] * bool(design.check_snippets)


def draw_whole(
    secret: bytes, design: Design, offers: Sequence[Offer], others: Sequence[OtherOffers] = ()
) -> Allocation:
    """Draw the allocation of a study. The same arguments always give the same one.

    Practice and checks are in no seat's order: a rater meets them in an order made of two random codes.
    Raises Invalid where there are too few neurons of a kind, and where a run on another split is missing.
    """
    chance, rated = Secret(secret), draw(secret, design, offers)
    items = list(rated.items)
    if design.practice_items:
        check_practice(design, len(offers))
        taken = {(item.unit.arm, item.unit.layer, neuron) for item in rated.items for neuron in item.neurons}
        items += draw_practice(chance, design, _of_split("practice", len(offers), others), taken)
    if design.check_snippets:
        items += draw_checks(chance, design, _of_split("check", len(offers), others), rated.items)
    return replace(rated, items=tuple(sorted(items, key=lambda item: item.code)))


def draw_again(secret: bytes, design: Design, arms: Sequence[Mapping[str, Any]]) -> Allocation:
    """The allocation of a study from what is sealed of its arms."""
    others = [{split: run["offer"] for split, run in (arm.get("other_runs") or {}).items()} for arm in arms]
    return draw_whole(secret, design, [arm["offer"] for arm in arms], others)


def _of_split(split: str, arms: int, others: Sequence[OtherOffers]) -> list[Offer]:
    missing = [number + 1 for number in range(arms) if number >= len(others) or split not in others[number]]
    if missing:
        raise Invalid(
            N_(
                "The design needs a run of every model on the split %(split)s, and there is none for run number "
                "%(run)s. Collect it from the same checkpoint: glance-runner collect --split %(split)s …"
            ),
            split=split, run=missing[0],
        )  # fmt: skip
    return [others[number][split] for number in range(arms)]
