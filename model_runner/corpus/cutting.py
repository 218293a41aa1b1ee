"""Long files cut into documents where their author left a gap."""

import re
from collections.abc import Iterator

BLANK_LINE = re.compile(r"\n[ \t]*\n+")


def cut(text: str, at_least: int, at_most: int) -> Iterator[str]:
    """Pieces that join to the text, cut at the first blank line after `at_least` characters.

    Where none comes before `at_most` characters, the cut is at the last line end before, else right there.
    """
    start = 0
    while len(text) - start > at_most:
        end = _gap(text, start + at_least, start + at_most)
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _gap(text: str, low: int, high: int) -> int:
    found = BLANK_LINE.search(text, low, high)
    if found:
        return found.end()
    line_end = text.rfind("\n", low, high)
    return line_end + 1 if line_end >= 0 else high


def pieces(text: str, gap: "re.Pattern[str]") -> list[str]:
    """The text cut after every gap, so that the pieces join to the text."""
    ends = [found.end() for found in gap.finditer(text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
