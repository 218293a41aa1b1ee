"""Characters become HTML: neighbours of one shade share an element, and what cannot be seen carries a sign. Pure.

Shape: C characters.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

_BLANK = r"\u00a0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0"
"""Blank characters other than the space: no-break, thin, ideographic, Hangul fillers, blank Braille."""
_NO_WIDTH = (
    r"\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f"
)
"""Characters without width: controls, marks of direction, joiners, tags."""
_NOT_IN_HTML = r"\x00\udc80-\udcff"
"""NUL, and bytes that are no character."""
_KINDS = {
    "t": re.compile(r"\t"),
    "r": re.compile(r"\r"),
    "s": re.compile(f"[{_BLANK}]"),
    "z": re.compile(f"[{_NO_WIDTH}]"),
    "x": re.compile(f"[{_NOT_IN_HTML}]"),
}
_SUSPECT = rf"[\t\n\r&<>{_BLANK}{_NO_WIDTH}{_NOT_IN_HTML}]"
_MAYBE_SPECIAL = re.compile(_SUSPECT)
# A new line takes the spaces after it, and a joiner that joins is no sign.
_SPECIAL = re.compile(rf"{_SUSPECT}(?:(?<=\n) *|(?<!\S\u200d))")
"""What is not written as it is."""
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}


def shaded(text: str, levels: bytes, marks: Sequence[int]) -> list[str]:
    """The HTML between each two marks, which ascend: neighbours of one level share an element, level 0 is bare text."""
    level_C = np.frombuffer(levels, np.uint8)
    begins_C = np.ones(len(text) + 1, bool)
    np.not_equal(level_C[1:], level_C[:-1], out=begins_C[1:-1])
    begins_C[list(marks)] = True
    cuts = np.flatnonzero(begins_C)
    starts, steps = cuts.tolist(), level_C[cuts[:-1]].tolist()
    runs = [
        f"<i class=a{step}>{text[start:stop]}</i>" if step else text[start:stop]
        for step, (start, stop) in zip(steps, pairwise(starts), strict=True)
    ]
    special = [found.start() for found in _MAYBE_SPECIAL.finditer(text)]
    for at in np.unique(cuts.searchsorted(special, "right") - 1).tolist():
        runs[at] = _special(text[starts[at] : starts[at + 1]], steps[at])
    return ["".join(runs[start:stop]) for start, stop in pairwise(cuts.searchsorted(marks).tolist())]


def visible(part: str) -> str:
    """Escaped text in which every character that cannot be seen carries a sign."""
    return _SPECIAL.sub(lambda found: _written(found[0]), part)


def _special(part: str, step: int) -> str:
    """A run in which something is not written as it is; a sign that is alone in it carries the shade itself."""
    found = _SPECIAL.match(part)
    if step and found and found.end() == len(part) and part not in "&<>":
        return _written(part, step)
    return f"<i class=a{step}>{visible(part)}</i>" if step else visible(part)


@lru_cache(maxsize=4096)
def _written(characters: str, step: int = 0) -> str:
    """How one of what is special is written."""
    if characters in "&<>":
        return _ESCAPES[characters]
    kind = next((name for name, pattern in _KINDS.items() if pattern.match(characters)), "")
    inner = f"\\x{ord(characters) & 0xFF:02X}" if kind == "x" else _ESCAPES.get(characters, characters)
    names = [kind] * bool(kind) + [f"a{step}"] * bool(step)
    quote = '"' * (len(names) > 1)
    return f"<u{' class=' * bool(names)}{quote}{' '.join(names)}{quote}>{inner}</u>"
