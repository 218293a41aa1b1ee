"""An audit after unblinding: could the condition be told from the form of a page, without reading a word?

A ridge logistic regression is fitted on features of form, one group at a time, and judged by its cross-validated
area under the curve (AUC): 0.5 when form tells nothing. All pages of a neuron lie in one fold. A cross-validated AUC
of pure noise scatters somewhat below 0.5 and its interval knows nothing of that, so whether form tells anything is
judged by shuffling the conditions among neurons. The time a verdict took is an outcome and must not be a feature.

P pages, F features, N neurons, S ways to label the pages, K folds, M = S K models.
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
BATCH_CELLS = 1 << 14  # pages times features whose shuffles are fitted at once: what they need stays in the cache


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
    score_P = out_of_fold(values_PF, first_P[None], folds_of(first_P, neuron_P, rng)[None])[0]
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
    label_N, as_high = first_P[first_page_N], 0
    batch = max(1, BATCH_CELLS // values_PF.size)
    for start in range(0, SHUFFLES, batch):
        labels, folds = [], []
        for _ in range(min(batch, SHUFFLES - start)):
            labels.append(label_N[rng.permutation(len(neurons_N))][neuron_of_P])
            folds.append(folds_of(labels[-1], neuron_P, rng))
        score_SP = out_of_fold(values_PF, np.array(labels), np.array(folds))
        as_high += sum(auc(*one) >= seen.value for one in zip(score_SP, labels, strict=True))
    return Test((1 + as_high) / (SHUFFLES + 1), seen.value, method, len(neuron_P), "pages")


def folds_of(first_P: Bools, neuron_P: Ints, rng: np.random.Generator) -> Ints:
    """The fold of each page: all pages of a neuron lie in one, and each condition is spread over them."""
    fold_P = np.empty(len(neuron_P), dtype=np.int64)
    for side_P in (first_P, ~first_P):
        fold_P[side_P] = _ranks(neuron_P[side_P], rng.permutation(np.unique(neuron_P[side_P]))) % FOLDS
    return fold_P


def out_of_fold(values_PF: Floats, first_SP: Bools, fold_SP: Ints) -> Floats:
    """A score for each page from a model that saw no page of its fold, for each of S ways to label the pages.

    The models of all S and all folds are fitted at once. Features are standardised by the pages of the training.
    """
    held_SKP = fold_SP[:, None, :] == np.arange(FOLDS)[:, None]
    train_MP = ~held_SKP.reshape(-1, len(values_PF))
    kept_MP1 = train_MP[:, :, None]
    each_MPF = np.broadcast_to(values_PF, (len(train_MP), *values_PF.shape))
    mean_MF = each_MPF.mean(axis=1, where=kept_MP1)
    sd_MF = each_MPF.std(axis=1, where=kept_MP1)
    scaled_MPF = (values_PF - mean_MF[:, None]) / np.where(sd_MF == 0, 1, sd_MF)[:, None]
    design_MPF = np.concatenate([np.ones((*train_MP.shape, 1)), scaled_MPF], axis=2)
    weights_MF = ridge_logistic(design_MPF, np.repeat(first_SP, FOLDS, axis=0), train_MP)
    score_MP = (design_MPF @ weights_MF[:, :, None])[:, :, 0]
    return np.asarray(score_MP.reshape(held_SKP.shape).sum(axis=1, where=held_SKP))


def _ranks(neurons: Ints, order: Ints) -> Ints:
    place = np.argsort(order)
    return np.asarray(place[np.searchsorted(order, neurons, sorter=place)])


def ridge_logistic(design_MPF: Floats, yes_MP: Bools, train_MP: Bools, ridge: float = RIDGE) -> Floats:
    """Weights of M logistic regressions with a ridge penalty, by Newton steps. The first column is the intercept's.

    Only the pages of the training count. The intercept is not penalised. Returns (M, F).
    """
    models, _, features = design_MPF.shape
    penalty_F = np.array([0.0] + [ridge] * (features - 1))
    weights_MF = np.zeros((models, features))
    for _ in range(NEWTON_STEPS):
        chance_MP = 1 / (1 + np.exp(-np.clip((design_MPF @ weights_MF[:, :, None])[:, :, 0], -30, 30)))
        spread_MP = np.where(train_MP, chance_MP * (1 - chance_MP) + 1e-9, 0.0)
        curvature_MFF = design_MPF.transpose(0, 2, 1) @ (design_MPF * spread_MP[:, :, None]) + np.diag(penalty_F)
        off_MP = np.where(train_MP, yes_MP - chance_MP, 0.0)
        slope_MF = (off_MP[:, None, :] @ design_MPF)[:, 0] - penalty_F * weights_MF
        step_MF = np.linalg.solve(curvature_MFF, slope_MF[:, :, None])[:, :, 0]
        weights_MF = weights_MF + step_MF
        if np.abs(step_MF).max() < 1e-8:
            break
    return weights_MF


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
