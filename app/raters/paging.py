"""The raters of a study in pages: there may be thousands. Pure."""

from collections.abc import Sequence
from typing import TypeVar

from app.errors import NotFound

PAGE = 50
Row = TypeVar("Row")


def count_pages(rows: Sequence[object]) -> int:
    return max(1, -(-len(rows) // PAGE))


def of_page(rows: Sequence[Row], number: int) -> Sequence[Row]:
    """Raises NotFound past the last page."""
    if number > count_pages(rows):
        raise NotFound
    return rows[(number - 1) * PAGE : number * PAGE]
