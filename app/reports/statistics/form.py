"""An audit after unblinding: could the condition be told from the form of a page, without reading a word?

A ridge logistic regression is fitted on features of form, one group at a time, and judged by its cross-validated
area under the curve (AUC): 0.5 when form tells nothing. All pages of a neuron lie in one fold. A cross-validated AUC
of pure noise scatters somewhat below 0.5 and its interval knows nothing of that, so whether form tells anything is
judged by shuffling the conditions among neurons. The time a verdict took is an outcome and must not be a feature.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from app.reports.statistics.arrays import Bools, Floats, Ints
from app.reports.statistics.estimate import Estimate, Test, undefined, untested
from app.reports.statistics.resampling import percentiles

FOLDS = 5
RIDGE = 1.0
NEWTON_STEPS = 25
FEWEST = 20
SHUFFLES = 99


@dataclass(frozen=True)
class Form:
    """How well one group of features tells a condition from the baseline."""

    condition: str
    group: str
    """Group of features, such as "length"; "all" for all of them."""
    features: tuple[str, ...]
    auc: Estimate
    test: Test
    """That form tells nothing: conditions shuffled among neurons, one-sided."""


def form_audit(
    pages: pd.DataFrame, baseline: str, level: float, resamples: int, rng: np.random.Generator
) -> tuple[Form, ...]:
    """AUC of each group of features and of all, for each condition against the baseline.

    `pages` has a row for each page a rater was sent: neuron, condition, and numeric features named "group.feature".
    """
    features = sorted(name for name in pages.columns if "." in name)
    groups = {name.split(".")[0]: [f for f in features if f.split(".")[0] == name.split(".")[0]] for name in features}
    if len(groups) > 1:
        groups["all"] = features
    found = []
    for condition in sorted(set(pages["condition"]) - {baseline}):
        part = pages[pages["condition"].isin([condition, baseline])]
        first_P = (part["condition"] == condition).to_numpy()
        neuron_P = part["neuron"].to_numpy(np.int64)
        for group, names in groups.items():
            values_PF = part[names].to_numpy(float)
            auc = cross_validated_auc(values_PF, first_P, neuron_P, level, resamples, rng)
            test = shuffled_test(values_PF, first_P, neuron_P, auc, rng)
            found.append(Form(condition, group, tuple(names), auc, test))
    return tuple(found)


def cross_validated_auc(
    values_PF: Floats, first_P: Bools, neuron_P: Ints, level: float, resamples: int, rng: np.random.Generator
) -> Estimate:
    """Out-of-fold AUC over pages P with features F; the interval resamples neurons of each condition."""
    method = f"AUC of a ridge logistic regression, {FOLDS}-fold cross-validated by neuron, neurons resampled"
    sides = [np.unique(neuron_P[side_P]) for side_P in (first_P, ~first_P)]
    if min(len(side) for side in sides) < FEWEST:
        why = f"At least {FEWEST} neurons in each condition are needed; there are {len(sides[0])} and {len(sides[1])}."
        return undefined(why, method, len(neuron_P), "pages")
    score_P = out_of_fold(values_PF, first_P, neuron_P, rng)
    wins, pages = _wins(score_P, first_P, neuron_P, sides)
    value = float(wins.sum() / pages.sum())
    counts = [rng.multinomial(len(side), np.full(len(side), 1 / len(side)), resamples).astype(float) for side in sides]
    drawn_B = _bilinear(counts[0], wins, counts[1]) / _bilinear(counts[0], pages, counts[1])
    low, high = percentiles(drawn_B, level)
    return Estimate(value, low, high, level, method, len(neuron_P), "pages")


def shuffled_test(values_PF: Floats, first_P: Bools, neuron_P: Ints, seen: Estimate, rng: np.random.Generator) -> Test:
    """p = (1 + shuffles with an AUC at least as high) / (shuffles + 1). Each neuron is of one condition."""
    method = f"cross-validated AUC, conditions shuffled among neurons {SHUFFLES} times, one-sided"
    if seen.value is None:
        return untested(seen.why, method, len(neuron_P), "pages")
    neurons_N, first_page_N, neuron_of_P = np.unique(neuron_P, return_index=True, return_inverse=True)
    label_N = first_P[first_page_N]
    as_high = 0
    for _ in range(SHUFFLES):
        shuffled_P = label_N[rng.permutation(len(neurons_N))][neuron_of_P]
        as_high += auc(out_of_fold(values_PF, shuffled_P, neuron_P, rng), shuffled_P) >= seen.value
    return Test((1 + as_high) / (SHUFFLES + 1), seen.value, method, len(neuron_P), "pages")


def out_of_fold(values_PF: Floats, first_P: Bools, neuron_P: Ints, rng: np.random.Generator) -> Floats:
    """A score for each page from a model that saw no page of its neuron; each condition is spread over the folds."""
    fold_P = np.empty(len(neuron_P), dtype=np.int64)
    for side_P in (first_P, ~first_P):
        fold_P[side_P] = _ranks(neuron_P[side_P], rng.permutation(np.unique(neuron_P[side_P]))) % FOLDS
    score_P = np.empty(len(neuron_P))
    for fold in range(FOLDS):
        held = fold_P == fold
        score_P[held] = _fit_and_score(values_PF[~held], first_P[~held], values_PF[held])
    return score_P


def _ranks(neurons: Ints, order: Ints) -> Ints:
    place = np.argsort(order)
    return np.asarray(place[np.searchsorted(order, neurons, sorter=place)])


def _fit_and_score(train_PF: Floats, first_P: Bools, test_PF: Floats) -> Floats:
    """Scores of the test pages; features are standardised by the training pages."""
    mean, sd = train_PF.mean(axis=0), train_PF.std(axis=0)
    sd = np.where(sd == 0, 1, sd)
    weights = ridge_logistic((train_PF - mean) / sd, first_P.astype(float))
    return np.asarray((test_PF - mean) / sd @ weights[1:] + weights[0])


def ridge_logistic(values_PF: Floats, yes_P: Floats, ridge: float = RIDGE) -> Floats:
    """Intercept and weights of a logistic regression with a ridge penalty (not on the intercept), by Newton steps."""
    design = np.column_stack([np.ones(len(values_PF)), values_PF])
    penalty = np.diag([0.0] + [ridge] * values_PF.shape[1])
    weights = np.zeros(design.shape[1])
    for _ in range(NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        curvature = (design * (chance * (1 - chance) + 1e-9)[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature, design.T @ (yes_P - chance) - penalty @ weights)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def auc(score_P: Floats, first_P: Bools) -> float:
    """Chance that a page of the first condition scores higher than one of the other, ties half (Mann and Whitney)."""
    n_1, n_2 = int(first_P.sum()), int((~first_P).sum())
    return float((stats.rankdata(score_P)[first_P].sum() - n_1 * (n_1 + 1) / 2) / (n_1 * n_2))


def _wins(score_P: Floats, first_P: Bools, neuron_P: Ints, sides: Sequence[Ints]) -> tuple[Floats, Floats]:
    """For each pair of neurons: pairs of pages won, ties half, and pairs of pages."""
    above = score_P[first_P][:, None] - score_P[~first_P][None, :]
    won = (above > 0) + 0.5 * (above == 0)
    mine = (sides[0][:, None] == neuron_P[first_P][None, :]).astype(float)
    theirs = (sides[1][:, None] == neuron_P[~first_P][None, :]).astype(float)
    return mine @ won @ theirs.T, np.outer(mine.sum(axis=1), theirs.sum(axis=1))


def _bilinear(left_BN: Floats, middle_NM: Floats, right_BM: Floats) -> Floats:
    return np.asarray(np.einsum("bm,bm->b", left_BN @ middle_NM, right_BM))
