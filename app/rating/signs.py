"""Characters become HTML: neighbours of one shade share an element, and what cannot be seen carries a sign. Pure.

Shapes: C characters, R runs of one level.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from app.rating.snippets import LEVELS

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
# A new line takes the spaces after it, and a joiner that joins is no sign.
_SPECIAL = re.compile(rf"{_SUSPECT}(?:(?<=\n) *|(?<!\S\u200d))")
"""What is not written as it is."""
_IS_SUSPECT = np.zeros(0x10001, bool)
"""By code point; the last one stands for all above."""
_IS_SUSPECT[[found.start() for found in re.finditer(_SUSPECT, "".join(map(chr, range(0x10000))))]] = True
_IS_SUSPECT[-1] = True
_OPEN = [f"<i class=a{level}>" for level in range(LEVELS + 1)]
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}


def shaded(text: str, levels: bytes, stretches: Collection[tuple[int, int]]) -> list[str]:
    """The HTML of each stretch [start, stop) of the text, which has a level a character; 0 is not shaded."""
    texts = [text[start:stop] for start, stop in stretches]
    ends = [0, *accumulate(map(len, texts))]
    begins_R1, html = _runs("".join(texts), b"".join([levels[start:stop] for start, stop in stretches]), ends)
    return ["".join(html[first:past]) for first, past in pairwise(begins_R1.searchsorted(ends).tolist())]


def _runs(text: str, levels: bytes, ends: list[int]) -> tuple[NDArray[np.intp], list[str]]:
    """Where the runs of one level begin, and the HTML of each. At the end of a stretch ends a run."""
    levels_C = np.frombuffer(levels, np.uint8)
    begins_C1 = np.ones(len(text) + 1, bool)
    np.not_equal(levels_C[1:], levels_C[:-1], out=begins_C1[1:-1])
    begins_C1[ends] = True
    begins_R1 = np.flatnonzero(begins_C1)
    begins, steps = begins_R1.tolist(), levels_C[begins_R1[:-1]].tolist()
    html = [
        f"{_OPEN[step]}{text[begin:end]}</i>" if step else text[begin:end]
        for step, begin, end in zip(steps, begins, begins[1:], strict=False)
    ]
    for run in set((begins_R1.searchsorted(_suspects(text), "right") - 1).tolist()):
        html[run] = _special(text[begins[run] : begins[run + 1]], steps[run])
    return begins_R1, html


def _suspects(text: str) -> NDArray[np.intp]:
    """Where there is what may not be written as it is."""
    code_C = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.flatnonzero(_IS_SUSPECT[np.minimum(code_C, len(_IS_SUSPECT) - 1)])


def visible(part: str) -> str:
    """Escaped text in which every character that cannot be seen carries a sign."""
    return _SPECIAL.sub(lambda found: _written(found[0]), part)


def _special(part: str, step: int) -> str:
    """A run with something that is not written as it is; a sign that is alone in it carries the shade itself."""
    if not step:
        return visible(part)
    found = _SPECIAL.match(part)
    if found and found.end() == len(part) and part not in "&<>":
        return _written(part, step)
    return f"<i class=a{step}>{visible(part)}</i>"


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
