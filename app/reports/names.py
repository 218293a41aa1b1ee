"""Names that a reader knows for conditions, sizes and numbers."""

from collections.abc import Iterable

from app.conditions import condition_name

__all__ = ["condition_name", "in_order", "letter", "percent", "points", "rater_name", "size_name"]

KNOWN = ("gelu", "solu_ln", "gelu_ln", "solu", "legible")
"""The order of conditions after the baseline; it also gives each its colour and shape."""
MOST_NAMED = 40
"""Raters beyond this many are drawn together: nobody reads a figure of a thousand rows."""
MOST_LISTED = 50
"""Rows of a table that are seen at once; the others are folded, or on pages that follow."""
MINUS = "\u2212"


def in_order(conditions: Iterable[str], baseline: str) -> list[str]:
    """Conditions as figures and tables list them: the baseline, those we know, the rest by name."""
    rank = {name: index for index, name in enumerate(KNOWN)}
    return sorted(set(conditions), key=lambda name: (name != baseline, rank.get(name, len(KNOWN)), name))


def size_name(parameters: int) -> str:
    """A number of parameters as it is said: 812 k, 3.1 M, 13 M, 1.3 B."""
    for unit, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if parameters >= 0.9995 * unit:
            return (
                f"{parameters / unit:.3g}\u00a0{letter}"
                if parameters >= 99.5 * unit
                else f"{parameters / unit:.2g}\u00a0{letter}"
            )
    return str(parameters)


def percent(share: float, digits: int = 0) -> str:
    """0.574 as 57 %."""
    return f"{100 * share:.{digits}f}\u00a0%".replace("-", MINUS)


def points(difference: float) -> str:
    """A difference of fractions in percentage points, with its sign: +22."""
    text = f"{100 * difference:+.0f}"
    return "0" if float(text) == 0 else text.replace("-", MINUS)


def letter(number: int) -> str:
    """A, B, … Z, AA, AB, … for 0, 1, …"""
    return (letter(number // 26 - 1) if number >= 26 else "") + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 26]


def rater_name(number: int) -> str:
    """What a report calls a rater: names stay with the administrators."""
    return f"Rater {letter(number)}"
