"""Numbers that somebody asked for, and how small or large they may be."""

from math import inf

from model_runner.errors import RunnerError

MOST = (1 << 63) - 1
"""The largest whole number that arrays and databases hold."""


def refuse_outside(name: str, value: int | None, least: int, most: int, why: str = "") -> None:
    """Raise RunnerError for a number outside [least, most]; None is nobody's wish. `why` ends the sentence."""
    if value is None or least <= value <= most:
        return
    bound = f"at least {least:,}" if value < least else f"at most {most:,}{why}"
    raise RunnerError(f"{name} is {value:,}; it must be {bound}.")


def refuse_not_above_zero(name: str, value: float) -> None:
    """Raise RunnerError for a number that is not above 0, for NaN and for infinity."""
    if not 0 < value < inf:
        raise RunnerError(f"{name} is {value}; it must be above 0{' and finite' if value == inf else ''}.")
