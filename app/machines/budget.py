"""What calls cost, and whether another one may be made. Pure."""

from dataclasses import dataclass
from typing import NamedTuple

from app.errors import Invalid

MILLION = 1_000_000


class Usage(NamedTuple):
    """Tokens as the endpoint counted them; None where it did not say."""

    prompt: int | None
    completion: int | None


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits over all calls of a machine rater, those of earlier runs included."""

    price_in: float | None = None
    """Of a million tokens read, in whatever currency the limit is in."""
    price_out: float | None = None
    """Of a million tokens written."""
    most_cost: float | None = None
    most_calls: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("price", self.price_in), ("price", self.price_out), ("budget", self.most_cost)):
            if value is not None and not 0 <= value < float("inf"):
                raise Invalid(f"A {name} of {value} cannot be. Give a number of at least 0.")
        if self.most_calls is not None and self.most_calls < 1:
            raise Invalid(f"A limit of {self.most_calls} calls lets none through. Give at least 1.")
        if (self.price_in is None) != (self.price_out is None):
            raise Invalid("Give both prices, of a million tokens read and of a million written, or neither.")
        if self.most_cost is not None and self.price_in is None:
            raise Invalid("A limit of the cost needs both prices. Give --price-in and --price-out too.")

    def cost(self, usage: Usage) -> float | None:
        """What a call cost, None where no prices were given or the endpoint did not count."""
        if self.price_in is None or self.price_out is None or usage.prompt is None or usage.completion is None:
            return None
        return (usage.prompt * self.price_in + usage.completion * self.price_out) / MILLION


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What a machine rater has used so far."""

    calls: int = 0
    cost: float = 0.0
    """Of the calls whose cost is known."""
    dearest: float = 0.0
    """The cost of its dearest call."""
    unknown: int = 0
    """Calls whose cost is not known: cut off, or not counted by the endpoint."""


def why_no_more(budget: Budget, spent: Spent) -> str | None:
    """Why no further call may be made: a sentence, or None where one may.

    A call whose cost is not known is taken to have cost as much as the dearest one, and so is the next one.
    """
    if budget.most_calls is not None and spent.calls >= budget.most_calls:
        return f"The limit of {budget.most_calls} calls is reached."
    if budget.most_cost is not None:
        expected = spent.cost + (spent.unknown + 1) * spent.dearest
        if expected > budget.most_cost or spent.cost >= budget.most_cost:
            return f"{spent.cost:.4f} of {budget.most_cost:.4f} is spent, and another call could go over it."
    return None
