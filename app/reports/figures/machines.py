"""How often each machine rater says yes in each condition. People are in another figure."""

from collections.abc import Mapping, Sequence

from app.reports.figures.drawing import Figure, Row, figure
from app.reports.figures.strictness import rater_rows
from app.reports.names import condition_name, in_order, percent, size_name
from app.reports.speech import say
from app.reports.statistics.machines import MachineFraction
from app.words.language import N_


def draw_machines(machines: Mapping[str, Sequence[MachineFraction]], baseline: str, stamp: str) -> Figure:
    """A row a machine, and for several sizes a row a machine and size; a mark a condition."""
    several = len({one.arm.size for arms in machines.values() for one in arms}) > 1
    rows = [_row(name, one, several) for name, arms in machines.items() for one in arms]
    conditions = in_order((row["condition"] for row in rows), baseline)
    names = list(dict.fromkeys(row["rater"] for row in rows))
    said = "; ".join(f"{row['rater']}, {condition_name(row['condition'])}: {percent(row['fraction'])}" for row in rows)
    label = say(N_("Fraction of neurons called interpretable by machine raters, not by people.")) + f" {said}."
    height = max(16 * len(conditions) + 10, 34) * len(names) + 84
    return figure("machines", label, lambda size: rater_rows(rows, names, conditions, size), (height, height), stamp)


def _row(name: str, one: MachineFraction, several: bool) -> Row:
    value = one.fraction.value or 0.0
    return {
        "rater": f"{name}, {size_name(one.arm.size)}" if several else name,
        "condition": one.arm.condition,
        "fraction": value,
        "low": value if one.fraction.low is None else one.fraction.low,
        "high": value if one.fraction.high is None else one.fraction.high,
    }
