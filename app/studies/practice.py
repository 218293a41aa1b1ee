"""Practice items: drawn from neurons that nobody rates, half of each arm's with one answer, half with the other. Pure.

The answers are right by construction. Of an interpretable one, a single token is what most snippets fired on. One
that is not interpretable takes each of its snippets from another neuron, so that no rule is behind them. So an answer
needs nobody's opinion, and feedback teaches the rule: every arm has as many of both.
"""

from collections.abc import Iterator, Sequence

from app.errors import Invalid
from app.studies.design import Design
from app.studies.draw import SHOWN, DrawnItem, Offer, Secret, Unit, drawn_item
from app.words.said import N_

ONE_TOKEN = "1"  # noqa: S105  # a letter of an offer
"""The letter of a neuron that can be shown and whose strongest firings are mostly on one token."""


def check_practice(design: Design, arms: int) -> None:
    """Raises Invalid where the items cannot be spread evenly over arms and answers."""
    if design.practice_items % (2 * arms):
        raise Invalid(
            N_(
                "Practice items are spread evenly over %(arms)s arms and two answers, so their number must be a "
                "multiple of %(each)s; it is %(n)s."
            ),
            arms=arms, each=2 * arms, n=design.practice_items,
        )  # fmt: skip


def draw_practice(
    chance: Secret, design: Design, offers: Sequence[Offer], taken: set[tuple[int, int, int]]
) -> Iterator[DrawnItem]:
    """`offers`: of each arm's run on the split practice. `taken`: arm, layer and index of neurons of other items."""
    each = design.practice_items // (2 * len(offers))
    for arm, offer in enumerate(offers):
        free = [
            (layer, index, letter)
            for layer, letters in enumerate(offer)
            for index, letter in enumerate(letters)
            if letter in (SHOWN, ONE_TOKEN) and (arm, layer, index) not in taken
        ]
        yield from _with_one_rule(chance, design, arm, free, each)
        yield from _with_no_rule(chance, design, arm, free, each)


def _with_one_rule(
    chance: Secret, design: Design, arm: int, free: Sequence[tuple[int, int, str]], need: int
) -> Iterator[DrawnItem]:
    ruled = {f"{layer} {index}": (layer, index) for layer, index, letter in free if letter == ONE_TOKEN}
    if len(ruled) < need:
        raise Invalid(
            N_(
                "Run number %(run)s on the split practice has %(n)s free neurons that mostly fire on one token, and "
                "practice needs %(need)s. Ask for fewer practice items, or collect it over more text."
            ),
            run=arm + 1, n=len(ruled), need=need,
        )  # fmt: skip
    for name in chance.shuffled(ruled, "practice", arm)[:need]:
        layer, index = ruled[name]
        yield drawn_item(chance, design, "practice", Unit(arm, "neuron", layer, index), (index,), 0)


def _with_no_rule(
    chance: Secret, design: Design, arm: int, free: Sequence[tuple[int, int, str]], need: int
) -> Iterator[DrawnItem]:
    by_layer: dict[int, list[int]] = {}
    for layer, index, _ in free:
        by_layer.setdefault(layer, []).append(index)
    layers = [layer for layer, indices in by_layer.items() if len(indices) >= design.snippets]
    if need and not layers:
        raise Invalid(
            N_(
                "No layer of run number %(run)s on the split practice has %(need)s free neurons that can be shown, "
                "from which a practice item without a rule is put together. Ask for fewer snippets or neurons."
            ),
            run=arm + 1, need=design.snippets,
        )  # fmt: skip
    for number in range(need):
        layer = chance.shuffled(layers, "practice layer", arm, number)[0]
        neurons = chance.shuffled(by_layer[layer], "practice mixed", arm, number)[: design.snippets]
        yield drawn_item(chance, design, "practice", Unit(arm, "mixed", layer, number), tuple(neurons), 0)
