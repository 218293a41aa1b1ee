"""Runs of an arm's model over the splits practice and check: what they offer, and the snippets drawn from them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.errors import Invalid
from app.models import Verdict
from app.rating.snippets import Shown, reach
from app.studies import checking
from app.studies.design import Design
from app.studies.draw import SHOWN, DrawnItem
from app.studies.importing import FEW, Arm, kept_of, letters_of, rows_of, shown
from app.studies.practice import ONE_TOKEN
from app.studies.whole_draw import splits
from app.words.said import N_
from model_runner.run.folder import Run, Snippet

MOSTLY = 0.8
"""Of the strongest firings, as in the rule that raters judge by."""
LONGEST_TEXT = 500


@dataclass(frozen=True)
class OtherRun:
    """A run over another split as a draw sees it."""

    run: Run
    offer: list[str]

    def sealed(self) -> dict[str, Any]:
        return {"run_digest": self.run.info.digest, "offer": self.offer}


def read_others(arm: Arm, design: Design) -> dict[str, OtherRun]:
    """The runs that the design needs, by split. Raises Invalid where one lacks what is needed of it."""
    wanted = {split: arm.others[split] for split in splits(design) if split in arm.others}
    return {split: OtherRun(run, OFFERS[split](run, design)) for split, run in wanted.items()}


def practice_snippets(other: OtherRun, item: DrawnItem, design: Design) -> list[Shown]:
    """In the order they are shown, each on the scale of its own neuron's maximum."""
    rows = rows_of(other.run, "neuron")[item.unit.layer]
    neurons = item.neurons if len(item.neurons) > 1 else item.neurons * len(item.order)
    kept = {neuron: _strongest(other.run, int(rows[neuron]), design) for neuron in set(neurons)}
    near = reach(design.wide_tokens)
    return [shown(other.run, kept[neurons[rank]][rank], kept[neurons[rank]][0].value, near) for rank in item.order]


def lesson(item: DrawnItem, snippets: Sequence[Shown]) -> dict[str, Any]:
    """What the item teaches: its answer, and the outlined token that most of its snippets share."""
    word, covered = Counter(_word(one.texts[one.peak]) for one in snippets).most_common(1)[0]
    if item.unit.kind == "mixed":
        return {"verdict": Verdict.NOT_INTERPRETABLE.value, "text": "", "covered": covered}
    return {"verdict": Verdict.INTERPRETABLE.value, "text": word[:LONGEST_TEXT], "covered": covered}


def check_snippets(other: OtherRun, item: DrawnItem, design: Design) -> list[Shown]:
    """Held-out snippets in the order they are shown. Their activations are not: nothing is shaded."""
    row = int(rows_of(other.run, "neuron")[item.unit.layer, item.unit.number])
    kept = _held_out(other.run, row, design) or []
    return [shown(other.run, kept[at], 1.0, reach(design.tokens)) for at in item.order]


def _practice_offer(run: Run, design: Design) -> list[str]:
    if run.info.kept < design.snippets:
        raise Invalid(
            N_("%(name)s, on the split practice, kept %(n)s snippets a neuron, and the design shows %(need)s."),
            name=run.info.name, n=run.info.kept, need=design.snippets,
        )  # fmt: skip
    rows = rows_of(run, "neuron")
    offer = letters_of(run, rows, replace(design, snippet_choice="top"))
    return [
        "".join(
            ONE_TOKEN if letter == SHOWN and _has_one_token(run, int(row), design) else letter
            for letter, row in zip(letters, of_layer, strict=True)
        )
        for letters, of_layer in zip(offer, rows, strict=True)
    ]


def _has_one_token(run: Run, row: int, design: Design) -> bool:
    words = Counter(_word(run.token_bytes(int(one.tokens_W[one.peak]))) for one in _strongest(run, row, design))
    word, covered = words.most_common(1)[0]
    return bool(word) and covered >= MOSTLY * design.snippets


def _word(text: bytes) -> str:
    """A token without the blank around it and whatever its case; empty where it is no text of its own."""
    try:
        return text.decode().strip().casefold()
    except UnicodeDecodeError:
        return ""


def _strongest(run: Run, row: int, design: Design) -> list[Snippet]:
    return kept_of(run, row, replace(design, snippet_choice="top")) or []


def _check_offer(run: Run, design: Design) -> list[str]:
    wanted = checking.sections(design.check_snippets)
    if missing := [section for section in wanted if section not in run.info.sections]:
        raise Invalid(
            N_("%(name)s, on the split check, has no section %(section)s. Collect it again with --complete."),
            name=run.info.name, section=missing[0],
        )  # fmt: skip
    rows = rows_of(run, "neuron")
    enough = np.vectorize(lambda row: row >= 0 and _held_out(run, int(row), design) is not None, otypes=[bool])
    return ["".join(SHOWN if one else FEW for one in layer) for layer in enough(rows)]


def _held_out(run: Run, row: int, design: Design) -> list[Snippet] | None:
    """The snippets of a check before they are shuffled; None where a band holds too few.

    Bands sample tokens, and one context may hold tokens of several: another context is taken where there is one.
    """
    found: list[Snippet] = []
    for section, count in checking.sections(design.check_snippets).items():
        seen = {(one.document, one.start) for one in found}
        sampled = sorted(run.snippets(section, row), key=lambda one: (one.document, one.start) in seen)
        if len(sampled) < count:
            return None
        found += sampled[:count]
    return found


OFFERS = {"practice": _practice_offer, "check": _check_offer}
