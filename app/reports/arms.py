"""Table 1: a row an arm, its verdicts counted and its fraction beside its validation loss."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.models import Arm
from app.reports.statistics.estimate import Estimate, undefined

if TYPE_CHECKING:
    import pandas as pd

    from app.reports.statistics.analysis import Analysis
    from app.reports.statistics.plan import Plan


@dataclass(frozen=True)
class ArmRow:
    """One arm of the study."""

    name: str
    condition: str
    size: int
    """Parameters, embedding and unembedding aside."""
    seed: int
    layers: int
    hidden: int
    train_tokens: int
    validation_loss: float | None
    """Nats a token on held-out text."""
    neurons: int
    """With a verdict that counts."""
    verdicts: int
    interpretable: int
    not_interpretable: int
    cannot_decide: int
    fraction: Estimate
    fraction_of_raters: Estimate


def arm_rows(arms: "list[Arm]", table: "pd.DataFrame", plan: "Plan", analysis: "Analysis") -> list[ArmRow]:
    """By condition, size and seed; an arm without a verdict has no fraction. `arms` are numbered as in the table."""
    from app.reports.statistics.verdicts import complete, of_kind, with_answers

    # Counted as if every answer counted, so that "cannot decide" is in the table whatever the plan makes of it.
    rows = with_answers(of_kind(complete(table), plan, "neuron"), replace(plan, cannot_decide="no"))
    said = rows["verdict"] if plan.version == "last" else rows["first_verdict"]
    parts, lacking = {part.arm.id: part for part in analysis.arms}, _lacking(analysis)
    found = []
    for number, arm in enumerate(arms):
        part, of_arm = parts.get(number), said[rows["arm"] == number]
        counts = of_arm.value_counts()
        found.append(
            ArmRow(
                arm.name, arm.condition, arm.size, arm.seed, arm.layers, arm.hidden, arm.train_tokens,
                arm.validation_loss, part.neurons if part else 0, len(of_arm), int(counts.get("INTERPRETABLE", 0)),
                int(counts.get("NOT_INTERPRETABLE", 0)), int(counts.get("CANNOT_DECIDE", 0)),
                part.fraction if part else lacking, part.fraction_of_raters if part else lacking,
            )
        )  # fmt: skip
    return sorted(found, key=lambda row: (row.condition, row.size, row.seed))


def _lacking(analysis: "Analysis") -> Estimate:
    method = analysis.arms[0].fraction.method
    return undefined("No neuron of this arm has a counted verdict.", method, 0, "neurons")
