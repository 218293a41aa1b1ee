"""In which order a rater meets the items of a phase, and at which of them they are. Needs no database."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar


class Named(NamedTuple):
    """An item as this module knows it."""

    id: int
    code: str


Placed = TypeVar("Placed")


def in_own_order(rater_code: str, items: Iterable[Named]) -> list[int]:
    """The items' ids in an order that is each rater's own. Two random codes make it, so it says nothing."""
    return [item.id for item in sorted(items, key=lambda item: _digest(rater_code, item.code))]


def _digest(rater_code: str, item_code: str) -> bytes:
    return hashlib.sha256(f"{rater_code} {item_code}".encode()).digest()


def first_open(done: Sequence[bool]) -> int | None:
    """The number, from 1, of the first step that is not done; None where all are."""
    return next((number for number, is_done in enumerate(done, start=1) if not is_done), None)
