"""A ladder compared: the baseline's law, every other arm's multiplier at the end of training and on the way."""

# Shape suffixes: R replicates, K models of the baseline, J models of an arm, D documents.
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model_runner.errors import RunnerError
from model_runner.scaling.law import Floats, Form, Law, choose_form, fit, scatter
from model_runner.scaling.models import Model, of_arm
from model_runner.scaling.multiplier import REPLICATES, Multipliers, document_noise, multipliers, no_noise


@dataclass(frozen=True)
class Moment:
    """The multipliers of an arm at one moment of training."""

    arm: str
    tokens: int
    multipliers: Multipliers


@dataclass(frozen=True)
class Comparison:
    """What a ladder shows."""

    baseline: str
    law: Law
    degrees_of_freedom: int
    scatter: float
    """Standard deviation of the baseline's losses about the law: nats with a floor, a share of the loss if plain."""
    seed: int
    replicates: int
    arms: dict[str, Multipliers]
    """At the end of training, from the losses of `evaluate`."""
    moments: list[Moment]
    """On the way, from the held-out losses that training read; their intervals hold no noise of documents."""
    left_out: list[int]
    """Training tokens at which the baseline's loss did not fall with size, so that there is no multiplier."""


def compare(models: Sequence[Model], baseline: str, asked: Form | None, seed: int) -> Comparison:
    """Fit the baseline's law and place every other arm on it.

    Raises RunnerError for a baseline of too few sizes for the law (see `choose_form`), one whose loss does not
    fall with size, and when there is no other arm.
    """
    if seed < 0:
        raise RunnerError(f"--seed is {seed}; it must be at least 0.")
    standard = of_arm(models, baseline)
    others = sorted({model.arm for model in models} - {baseline})
    if not others:
        raise RunnerError(f"Every checkpoint is of {baseline!r}; give those of another arm as well.")
    form = choose_form(sizes_of(standard), asked)
    law = fit(sizes_of(standard), losses_of(standard)[None, :], form)
    squares, freedom = scatter(law, sizes_of(standard), losses_of(standard))
    moments, left_out = _on_the_way(models, standard, others, form, seed)
    return Comparison(
        baseline=baseline,
        law=law,
        degrees_of_freedom=freedom,
        scatter=float(np.sqrt(squares / freedom)),
        seed=seed,
        replicates=REPLICATES,
        arms={arm: _at_the_end(standard, of_arm(models, arm), form, seed) for arm in others},
        moments=moments,
        left_out=left_out,
    )


def sizes_of(models: Sequence[Model]) -> Floats:
    """(K,) parameters."""
    return np.array([model.size for model in models], np.float64)


def losses_of(models: Sequence[Model]) -> Floats:
    """(K,) nats a token, as evaluated."""
    return np.array([model.evaluation.loss for model in models], np.float64)


def _at_the_end(standard: Sequence[Model], arm: Sequence[Model], form: Form, seed: int) -> Multipliers:
    both = [*standard, *arm]
    nats_DM = np.stack([model.documents["nats"] for model in both], axis=1)
    tokens_D = both[0].documents["tokens"].astype(np.float64)
    # Every arm is met by the same draws, whichever others there are.
    rng = np.random.default_rng(seed)
    noise_RM = document_noise(nats_DM, tokens_D, REPLICATES, rng)
    noise = noise_RM[:, : len(standard)], noise_RM[:, len(standard) :]
    ours, theirs = (sizes_of(standard), losses_of(standard)), (sizes_of(arm), losses_of(arm))
    return multipliers(ours, theirs, form, noise, rng)[1]


def _on_the_way(
    models: Sequence[Model], standard: Sequence[Model], others: Sequence[str], form: Form, seed: int
) -> tuple[list[Moment], list[int]]:
    """Multipliers wherever every model's held-out loss was read, and the tokens at which there are none."""
    moments, left_out = [], []
    for tokens in sorted(set.intersection(*(set(model.course) for model in models))):
        try:
            moments += [Moment(arm, tokens, _then(standard, of_arm(models, arm), tokens, form, seed)) for arm in others]
        except RunnerError:  # The baseline's loss does not fall with size yet.
            left_out.append(tokens)
    return moments, left_out


def _then(standard: Sequence[Model], arm: Sequence[Model], tokens: int, form: Form, seed: int) -> Multipliers:
    ours, theirs = (
        (sizes_of(models), np.array([model.course[tokens] for model in models])) for models in (standard, arm)
    )
    noise = no_noise(REPLICATES, len(standard)), no_noise(REPLICATES, len(arm))
    return multipliers(ours, theirs, form, noise, np.random.default_rng(seed))[1]
