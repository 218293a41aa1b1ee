"""What the fields of a plan are called on pages, to be translated where they are shown."""

from collections.abc import Mapping
from typing import Any

from app.words.language import N_

PLAN_WORDS: Mapping[str, str] = {
    "question": N_("Question and expectation"),
    "baseline": N_("Compared with"),
    "cannot_decide": N_("“Cannot decide” counts as"),
    "version": N_("Of an edited verdict counts"),
    "late_counts": N_("Late verdicts count"),
    "surplus_counts": N_("Verdicts beyond an item’s places count"),
    "opened_early_counts": N_("Items that were opened early count"),
    "excluded_raters": N_("Raters left out by name"),
    "fewest_verdicts": N_("A rater with fewer verdicts is left out"),
    "most_false_positives": N_("A rater who calls a larger share of controls interpretable is left out"),
    "least_seconds": N_("A verdict given in fewer seconds is left out"),
    "shuffle": N_("Conditions are shuffled within"),
    "correction": N_("Correction for several comparisons"),
    "alpha": N_("Level (alpha), two-sided"),
    "resamples": N_("Draws of each bootstrap and permutation"),
}
"""In the order of a page."""
CHOICES: Mapping[str, Mapping[str, str]] = {
    "cannot_decide": {
        "no": N_("not interpretable"),
        "yes": N_("interpretable"),
        "left_out": N_("nothing: it is left out"),
    },
    "version": {"last": N_("the last version"), "first": N_("the first version")},
    "shuffle": {"size": N_("size"), "size_and_rater": N_("size and rater")},
    "correction": {"holm": N_("Holm (confirmatory)"), "bh": N_("Benjamini-Hochberg (exploratory)")},
}
ESTIMAND_WORDS: Mapping[str, str] = {
    "top": N_(
        "The mean over an arm's neurons of the neuron's mean verdict on its strongest firings, as a difference from "
        "the baseline, averaged over the sizes that both have."
    ),
    "spectrum": N_(
        "The mean over an arm's neurons of the neuron's mean verdict on firings across its whole range, as a "
        "difference from the baseline, averaged over the sizes that both have."
    ),
}
ONE_LOOK = N_("One look: a study is unblinded once.")


def said(name: str, value: Any, raters: Mapping[str, str]) -> str:
    """A value of a plan in words; `raters` are their names by code. To be translated."""
    if isinstance(value, bool):
        return N_("yes") if value else N_("no")
    if name in CHOICES:
        return CHOICES[name][value]
    if name == "excluded_raters":
        return ", ".join(raters.get(one, one) for one in value) or N_("nobody")
    return f"{value:g}" if isinstance(value, float) else str(value) or "–"
