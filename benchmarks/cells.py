"""What the coverage studies share: a table of simulated cells, put into docs/statistics.md, and what was missed."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from benchmarks.outcome import Outcome

DOCUMENT = Path(__file__).parents[1] / "docs" / "statistics.md"


class Found(Protocol):
    """What was counted in a cell."""

    def failures(self) -> Iterator[str]:
        """What is promised of the cell and was missed, a sentence each."""


Row = TypeVar("Row", bound=Found)


def outcome_of(name: str, rows: Sequence[Found], studies: int, shown: Sequence[dict[str, Any]]) -> Outcome:
    """The share of cells that miss what is promised of them; the target is none."""
    missed = [sentence for found in rows for sentence in found.failures()]
    share = sum(any(found.failures()) for found in rows) / len(rows)
    return Outcome(name, share, 0.0, not missed, {"missed": missed, "studies": studies, "cells": list(shown)})


def table_of(note: str, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table in Markdown under a note."""
    lines = [columns, ["---"] * len(columns), *cells]
    return "\n".join([note, "", *(f"| {' | '.join(line)} |" for line in lines)])


def write(text: str, begin: str, end: str) -> None:
    """Replace what stands between two marks of the document."""
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(begin)
    DOCUMENT.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def command(
    about: str | None,
    usual: int,
    study: Callable[[int], list[Row]],
    table: Callable[[list[Row], int], str],
    *marks: str,
) -> None:
    """Simulate, print the table and what was missed; write the table between the two marks where that is asked for."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--studies", type=int, default=usual, help="simulated in each cell")
    parser.add_argument("--write", action="store_true", help="put the table into docs/statistics.md")
    given = parser.parse_args()
    rows = study(given.studies)
    text = table(rows, given.studies)
    print(text)  # noqa: T201 - a command
    for failure in (sentence for found in rows for sentence in found.failures()):
        print(failure)  # noqa: T201 - a command
    if given.write:
        begin, end = marks
        write(text, begin, end)
