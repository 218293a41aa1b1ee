"""Activations become shades: HTML of the snippets of one item, rendered once when a study is frozen.

Only the share of the neuron's own maximum is shown, in sixteen levels: a value, a sign or a decimal would
tell which model it came from. The text of every snippet is the source text, character for character.
"""

import re
from collections.abc import Sequence
from itertools import chain
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.rating.characters import Line, cells, extends, line
from app.rating.signs import shaded, visible

LEVELS = 15
NEAR_CELLS, FAR_CELLS = 62, 130
"""Text kept before the peak on narrow and on wide screens, so that three lines always reach the peak."""
LONG_PEAK_CELLS = 20
BEFORE_SHARE = 5 / 8
"""More to the left of the peak than to the right: a causal model only saw the left."""

_SPACE = re.compile(r"\s")
Activations = Sequence[float] | NDArray[np.floating[Any]]


class Shown(NamedTuple):
    """A snippet as it is to be shown."""

    texts: Sequence[bytes]
    """The bytes of each token; special tokens and padding are already left out."""
    activations: Activations
    """One a token, on one scale for all snippets of the item."""
    peak: int
    """Index of the token that was ranked."""
    document_start: bool
    """The document begins with the first token."""
    document_end: bool
    """The document ends with the last token."""


class Fragments(NamedTuple):
    """The HTML of an item, not yet padded."""

    narrow: bytes
    wide: bytes


def render_item(snippets: Sequence[Shown], tokens: int = 64, wide_tokens: int = 128) -> Fragments:
    """The snippets of an item, best first, in two columns: with `tokens` around each peak, and with more."""
    top = maximum(snippets)
    narrow, wide = rows(snippets, top, tokens), rows(snippets, top, wide_tokens)
    return Fragments(columns(narrow), columns(wide))


def pad(fragment: bytes, length: int) -> bytes:
    """Make the fragment exactly `length` bytes long: its length would tell how dense the activations are."""
    if len(fragment) > length:
        raise ValueError(f"A fragment of {len(fragment)} bytes cannot be padded to {length}.")
    return fragment.ljust(length)


def maximum(snippets: Sequence[Shown]) -> float:
    """The highest finite peak of the item; nothing is shaded where it is not above zero."""
    peaks = (float(shown.activations[shown.peak]) for shown in snippets)
    return max(filter(isfinite, peaks), default=0.0)


def shares(activations: Activations, top: float) -> NDArray[np.uint8]:
    """Levels 0 to 15: the share of the maximum. Negatives, NaN and all of a neuron that never fired are 0."""
    values_T = np.asarray(activations, np.float64)
    if not top > 0:
        return np.zeros(len(values_T), np.uint8)
    with np.errstate(over="ignore", invalid="ignore"):  # where the maximum is tiny, or a value is replaced below
        steps_T = np.rint(values_T * np.divide(LEVELS, top))
    return np.where(values_T >= top, LEVELS, np.where(values_T > 0, steps_T, 0)).astype(np.uint8)


def rows(snippets: Sequence[Shown], top: float, tokens: int = 64, prefix: str = "w") -> list[str]:
    """List items, numbered from 1. An element with the id `prefix` says what the checkboxes do."""
    return [
        f"<li><input type=checkbox id={prefix}{n} name=widened form=verdict aria-label={n} "
        f'aria-labelledby="{prefix} {prefix}{n}">{html}'
        for n, html in enumerate(paragraphs(snippets, top, tokens), 1)
    ]


def columns(items: Sequence[str]) -> bytes:
    """List items in two columns, the second of which goes on counting."""
    half = (len(items) + 1) // 2
    left, right = "\n".join(items[:half]), "\n".join(items[half:])
    return f"<ol role=list>\n{left}\n</ol>\n<ol role=list start={half + 1}>\n{right}\n</ol>\n".encode()


def paragraphs(snippets: Sequence[Shown], top: float, tokens: int = 64) -> list[str]:
    """Of each snippet what comes before the peak, the peak, and what comes after.

    All snippets at once: NumPy does much at a time quickly, and little at a time slowly.
    """
    near_peak = [_around(shown, tokens) for shown in snippets]
    lines = _lines(near_peak, top)
    marks = [0]
    for one in lines:
        marks += [marks[-1] + mark for mark in _marks(one)]
    parts = shaded("".join(one.text for one in lines), b"".join(one.levels for one in lines), marks)
    return [
        _paragraph(shown, _peak(shown, one, top), *parts[5 * n : 5 * n + 5])
        for n, (shown, one) in enumerate(zip(near_peak, lines, strict=True))
    ]


def _around(shown: Shown, tokens: int) -> Shown:
    """So many tokens around the peak."""
    before = round(tokens * BEFORE_SHARE)
    first, last = max(0, shown.peak - before), min(len(shown.texts), shown.peak + tokens - before)
    return Shown(
        shown.texts[first:last],
        shown.activations[first:last],
        shown.peak - first,
        shown.document_start and first == 0,
        shown.document_end and last == len(shown.texts),
    )


def _lines(snippets: Sequence[Shown], top: float) -> list[Line]:
    if not snippets:
        return []
    levels_T = shares(np.concatenate([shown.activations for shown in snippets]), top)
    lengths_T = np.fromiter(map(len, chain.from_iterable(shown.texts for shown in snippets)), np.intp)
    levels, lines, at = levels_T.repeat(lengths_T).tobytes(), [], 0
    for texts, _, peak, starts, ends in snippets:
        raw, start = b"".join(texts), len(b"".join(texts[:peak]))
        own = levels[at : at + len(raw)]
        lines.append(line(raw, own, start, start + len(texts[peak]), starts=starts, ends=ends))
        at += len(raw)
    return lines


def _marks(text: Line) -> tuple[int, int, int, int, int]:
    """Where what is hidden on wide screens ends, and what is hidden on narrow ones, the peak, and the whole."""
    room = max(0, cells(text.text[text.start : text.stop]) - 8)
    return _cut(text, FAR_CELLS - room), _cut(text, NEAR_CELLS - room), text.start, text.stop, len(text.text)


def _paragraph(shown: Shown, peak: str, far: str, near: str, left: str, _unmarked: str, right: str) -> str:
    name = ("", " class=b", " class=z", ' class="b z"')[shown.document_start + 2 * shown.document_end]
    far, near = far and f"<span class=f>{far}</span>", near and f"<span class=n>{near}</span>"
    return f"<p dir=auto{name}><span class=l>{far}{near}{left}</span>{peak}<span>{right}</span></p>"


def _peak(shown: Shown, text: Line, top: float) -> str:
    part, levels = text.text[text.start : text.stop], text.levels[text.start : text.stop]
    step = max(levels or shares(shown.activations[shown.peak : shown.peak + 1], top))
    name = f'"a{step} w"' if cells(part) > LONG_PEAK_CELLS else f"a{step}"
    return f"<mark class={name} tabindex=0>{visible(part) or '<u class=z></u>'}</mark>"


def _cut(text: Line, limit: int) -> int:
    """Where to start so that about `limit` cells come before the peak: at a word if one begins near."""
    at = max(0, text.start - max(0, limit))
    room = cells(text.text[at : text.start])
    while at < text.start and room > limit:
        room -= cells(text.text[at])
        at += 1
    if at < 8:
        return 0
    space = _SPACE.search(text.text, at, min(at + 12, text.start))
    if space:
        return space.start()
    while at < text.start and extends(text.text, at):
        at += 1
    return at
