"""What every method returns: a number with its method and its n, or a sentence that says why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, Literal

import numpy as np

Unit = Literal["neurons", "verdicts", "raters", "items", "pairs", "guesses", "pages", "models", "studies"]


@dataclass(frozen=True)
class Estimate:
    """A number, perhaps with an interval. `value` is None exactly when it is undefined; `why` then says why."""

    value: float | None
    """The estimate; a fraction is between 0 and 1, a difference is in the same unit (0.22 is 22 points)."""
    low: float | None
    """Lower bound of the interval; None when there is no interval (`why` says so)."""
    high: float | None
    """Upper bound."""
    level: float | None
    """Coverage the interval aims at, such as 0.95."""
    method: str
    """The method in words, interval included."""
    n: int
    """How many of `unit` the estimate stands on."""
    unit: Unit
    """What `n` counts."""
    why: str = ""
    """Why the value or its interval is missing: a sentence, or empty."""
    note: str = ""
    """What a reader must know to read it rightly: a sentence, or empty."""

    @property
    def defined(self) -> bool:
        """True when there is a value."""
        return self.value is not None


@dataclass(frozen=True)
class Test:
    """A test of a null hypothesis. `p` is None exactly when it is undefined; `why` then says why."""

    __test__ = False  # pytest would collect a class of this name

    p: float | None
    """Two-sided p value."""
    statistic: float | None
    """The observed statistic; `method` says which."""
    method: str
    """The test in words."""
    n: int
    """How many of `unit` it stands on."""
    unit: Unit
    """What `n` counts."""
    why: str = ""
    """Why there is no p value: a sentence, or empty."""
    note: str = ""
    """What a reader must know to read it rightly: a sentence, or empty."""

    @property
    def defined(self) -> bool:
        """True when there is a p value."""
        return self.p is not None


def undefined(why: str, method: str, n: int, unit: Unit) -> Estimate:
    """An estimate that cannot be had, and the sentence that says why."""
    return Estimate(None, None, None, None, method, n, unit, why=why)


def untested(why: str, method: str, n: int, unit: Unit) -> Test:
    """A test that cannot be done, and the sentence that says why."""
    return Test(None, None, method, n, unit, why=why)


def jsonable(thing: Any) -> Any:
    """Dataclasses, arrays, mappings and sequences as what `json.dumps` takes; a nan or an infinity is an error.

    Raises ValueError for a number that is not finite: an undefined result must say so in words.
    """
    if is_dataclass(thing) and not isinstance(thing, type):
        return {field.name: jsonable(getattr(thing, field.name)) for field in fields(thing)}
    if isinstance(thing, Mapping):
        return {str(key): jsonable(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple | np.ndarray):
        return [jsonable(part) for part in thing]
    if isinstance(thing, set | frozenset):
        return [jsonable(part) for part in sorted(thing)]
    return _scalar(thing)


def _scalar(thing: Any) -> Any:
    if isinstance(thing, np.generic):
        thing = thing.item()
    if isinstance(thing, Enum):
        thing = thing.value
    if isinstance(thing, float) and not np.isfinite(thing):
        raise ValueError(f"The number {thing} got into a report; an undefined result must say why in words.")
    return thing
