"""What a comparison says: as an object for a program, as a table, and in sentences."""

import csv
import dataclasses
import io
from collections.abc import Sequence
from typing import Any

from model_runner.scaling.comparison import Comparison
from model_runner.scaling.law import Law
from model_runner.scaling.models import Model, of_arm
from model_runner.scaling.multiplier import Interval, Multiplier
from model_runner.scaling.names import arm_name, size_name

FORMAT = 1
SOURCES = {
    "floor": "Hoffmann et al. 2022, equation 2, its term in size",
    "plain": "Kaplan et al. 2020, equation 1.1",
}


def as_object(models: Sequence[Model], comparison: Comparison) -> dict[str, Any]:
    """Everything, as scaling.json holds it."""
    one = models[0]
    return {
        "format": FORMAT,
        "baseline": comparison.baseline,
        "law": {
            "form": comparison.law.form,
            "formula": formula(comparison.law),
            "source": SOURCES[comparison.law.form],
            "unit": comparison.law.unit,
            "floor": float(comparison.law.floor_R[0]),
            "scale": float(comparison.law.scale_R[0]),
            "exponent": float(comparison.law.exponent_R[0]),
            "degrees_of_freedom": comparison.degrees_of_freedom,
            "scatter": comparison.scatter,
        },
        "interval": {"level": 0.95, "seed": comparison.seed, "replicates": comparison.replicates},
        "train_tokens": one.tokens,
        "corpus_digest": one.evaluation.corpus_digest,
        "documents": one.evaluation.documents,
        "tokens": one.evaluation.tokens,
        "models": rows(models, comparison),
        "pooled": {arm: dataclasses.asdict(found.pooled) for arm, found in comparison.arms.items()},
        "left_out": comparison.left_out,
    }


def rows(models: Sequence[Model], comparison: Comparison) -> list[dict[str, Any]]:
    """A row a model, as scaling.csv holds it; the baseline's have no multiplier."""
    found = []
    for arm in sorted({model.arm for model in models}):
        members = of_arm(models, arm)
        placed = comparison.arms[arm].models if arm in comparison.arms else [None] * len(members)
        found += [_row(model, place) for model, place in zip(members, placed, strict=True)]
    return found


def as_csv(table: Sequence[dict[str, Any]]) -> bytes:
    """A table of equal rows as CSV, an empty cell where there is no value."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]) if table else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue().encode()


def sentences(comparison: Comparison) -> list[str]:
    """The law, then each arm's multipliers, with what leans on an extrapolation named."""
    said = [
        f"Law of {arm_name(comparison.baseline)}: {formula(comparison.law)} nats a token, "
        f"{comparison.degrees_of_freedom} degrees of freedom, scatter {_scatter(comparison)} "
        f"({SOURCES[comparison.law.form]})."
    ]
    for arm, found in comparison.arms.items():
        said += [_model_sentence(arm, model) for model in found.models]
        said.append(f"{arm_name(arm)}, pooled over sizes: {_multiplier(found.pooled)}.")
    if comparison.left_out:
        when = ", ".join(f"{tokens:,}" for tokens in comparison.left_out)
        said.append(f"No multiplier at {when} training tokens: the baseline's loss does not fall with size there.")
    return said


def formula(law: Law) -> str:
    """The fitted law, as it is written."""
    floor = f"{law.floor_R[0]:.4g} + " if law.form == "floor" else ""
    return f"L = {floor}{law.scale_R[0]:.4g} (N / {law.unit:,.0f})^-{law.exponent_R[0]:.4g}"


def _row(model: Model, place: Multiplier | None) -> dict[str, Any]:
    return {
        "arm": model.arm,
        "size": model.size,
        "seed": model.seed,
        "loss": model.evaluation.loss,
        "loss_standard_error": model.evaluation.loss_standard_error,
        "bits_per_byte": model.evaluation.bits_per_byte,
        "multiplier": place.interval.value if place else None,
        "low": place.interval.low if place else None,
        "high": place.interval.high if place else None,
        "equal_size": place.equal_size if place else None,
        "extrapolated": place.extrapolated if place else None,
    }


def _model_sentence(arm: str, model: Multiplier) -> str:
    lead = f"{arm_name(arm)} of {size_name(model.size)}, loss {model.loss:.4f}: {_multiplier(model.interval)}"
    if model.equal_size is None:
        return f"{lead}; by the law no size of the baseline reaches this loss."
    equal = f"as good as a baseline of {size_name(model.equal_size)}"
    return f"{lead}, {equal}{' (extrapolated: no baseline of that size was trained)' if model.extrapolated else ''}."


def _multiplier(interval: Interval) -> str:
    value = "no multiplier" if interval.value is None else f"{interval.value:.3g}x"
    low, high = ("unbounded" if end is None else f"{end:.3g}" for end in (interval.low, interval.high))
    return f"{value} (95 % interval {low} to {high})"


def _scatter(comparison: Comparison) -> str:
    plain = comparison.law.form == "plain"
    return f"{100 * comparison.scatter:.2g} % of the loss" if plain else f"{comparison.scatter:.2g} nats"
