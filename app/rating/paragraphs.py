"""Snippets become paragraphs: what comes before the peak, the peak, and what comes after. Pure.

All snippets of an item are taken together, because NumPy does much at a time quickly and little slowly, and what two
widths of a snippet share is shaded once.

Shapes: T tokens and S snippets, of an item.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.rating.characters import Line, cells, extends, line
from app.rating.signs import shaded, visible
from app.rating.snippets import Shown, reach, shares

NEAR_CELLS, FAR_CELLS = 62, 130
"""Text kept before the peak on narrow and on wide screens, so that three lines always reach the peak."""
LONG_PEAK_CELLS = 20
SHORT, NEXT_WORD = 8, 12
"""So few characters are not hidden; so many are looked at for the beginning of a word."""
_SPACE = re.compile(r"\s")


class Source(NamedTuple):
    """The bytes of all snippets, one after the other."""

    raw: bytes
    levels: bytes
    """One a byte."""
    begins_T1: NDArray[np.intp]
    """Where each token begins, and the last one ends."""
    levels_T: NDArray[np.uint8]


class Span(NamedTuple):
    """The bytes of a paragraph."""

    begin: int
    start: int
    """Where the peak begins."""
    stop: int
    """Where the peak ends."""
    end: int
    level: int
    """Of the peak's token."""
    starts: bool
    """The document begins here."""
    ends: bool
    """The document ends here."""


class Place(NamedTuple):
    """A paragraph in the characters of all of them."""

    begin: int
    far: int
    """Before it, text is hidden on wide screens too."""
    near: int
    """Before it, text is hidden on narrow screens."""
    start: int
    stop: int
    end: int
    span: Span

    def stretches(self) -> tuple[tuple[int, int], ...]:
        return (self.begin, self.far), (self.far, self.near), (self.near, self.start), (self.stop, self.end)


def paragraphs(snippets: Sequence[Shown], top: float, *widths: int) -> list[list[str]]:
    """For each width, a number of tokens around the peak, the paragraphs of all snippets. The largest comes first."""
    if not snippets:
        return [[] for _ in widths]
    source = _source(snippets, top)
    text, levels, places = _placed(source, zip(*(_spans(snippets, source, tokens) for tokens in widths), strict=True))
    stretches = dict.fromkeys(chain.from_iterable([place.stretches() for place in places]))
    html = dict(zip(stretches, shaded(text, levels, stretches), strict=True))
    shown = [_paragraph(text, levels, place, html) for place in places]
    return [shown[n :: len(widths)] for n in range(len(widths))]


def _source(snippets: Sequence[Shown], top: float) -> Source:
    texts = list(chain.from_iterable([shown.texts for shown in snippets]))
    lengths_T = np.fromiter(map(len, texts), np.intp, len(texts))
    levels_T = shares(np.concatenate([shown.activations for shown in snippets]), top)
    begins_T1 = np.append(0, lengths_T.cumsum())
    return Source(b"".join(texts), levels_T.repeat(lengths_T).tobytes(), begins_T1, levels_T)


def _spans(snippets: Sequence[Shown], source: Source, tokens: int) -> Iterator[Span]:
    """So many tokens around each peak."""
    past_S = np.cumsum([len(shown.texts) for shown in snippets])
    first_S = np.append(0, past_S[:-1])
    peak_S = first_S + [shown.peak for shown in snippets]
    begin_S = np.maximum(first_S, peak_S - reach(tokens).before)
    end_S = np.minimum(past_S, peak_S + reach(tokens).after)
    starts_S = (begin_S == first_S) & [shown.document_start for shown in snippets]
    ends_S = (end_S == past_S) & [shown.document_end for shown in snippets]
    bounds = source.begins_T1[[begin_S, peak_S, peak_S + 1, end_S]].tolist()
    return map(Span, *bounds, source.levels_T[peak_S].tolist(), starts_S.tolist(), ends_S.tolist())


def _placed(source: Source, spans: Iterable[tuple[Span, ...]]) -> tuple[str, bytes, list[Place]]:
    """The characters, a level for each, and where the paragraphs are in them."""
    lines, places, at = list[Line](), list[Place](), 0
    for of_snippet in spans:
        # Where an edge could cut a character, each width has a line of its own.
        plain = source.raw[of_snippet[0].begin : of_snippet[0].end].isascii()
        for of_line in [of_snippet] if plain else zip(of_snippet, strict=True):
            lines.append(_line(source, of_line[0]))
            places += _in_line(lines[-1], at, of_line)
            at += len(lines[-1].text)
    return "".join([one.text for one in lines]), b"".join([one.levels for one in lines]), places


def _line(source: Source, span: Span) -> Line:
    begin, start, stop, end, _, starts, ends = span
    raw, levels = source.raw[begin:end], source.levels[begin:end]
    return line(raw, levels, start - begin, stop - begin, starts=starts, ends=ends)


def _in_line(text: Line, at: int, spans: Sequence[Span]) -> Iterator[Place]:
    """Where the spans of one line are: the first is the line, and the others are parts of it."""
    far, near = _cuts(text, 0)
    for span in spans:
        begin, end = span.begin - spans[0].begin, len(text.text) + span.end - spans[0].end
        if begin and far < begin + SHORT + NEXT_WORD:  # otherwise it does not depend on the beginning
            far, near = _cuts(text, begin)
        yield Place(at + begin, at + far, at + near, at + text.start, at + text.stop, at + end, span)


def _cuts(text: Line, begin: int) -> tuple[int, int]:
    room = _room(text.text[text.start : text.stop])
    return _cut(text, begin, FAR_CELLS - room), _cut(text, begin, NEAR_CELLS - room)


def _cut(text: Line, begin: int, limit: int) -> int:
    """Where to start so that about `limit` cells come before the peak: at a word if one begins near."""
    at = max(begin, text.start - max(0, limit))
    room = cells(text.text[at : text.start])
    while at < text.start and room > limit:
        room -= cells(text.text[at])
        at += 1
    if at < begin + SHORT:
        return begin
    space = _SPACE.search(text.text, at, min(at + NEXT_WORD, text.start))
    if space:
        return space.start()
    while at < text.start and extends(text.text, at):
        at += 1
    return at


def _paragraph(text: str, levels: bytes, place: Place, html: Mapping[tuple[int, int], str]) -> str:
    begin, far, near, start, stop, end, span = place
    name = ("", " class=b", " class=z", ' class="b z"')[span.starts + 2 * span.ends]  # nothing is missing: no “…”
    hidden = f"<span class=f>{html[begin, far]}</span>" if begin < far else ""
    hidden += f"<span class=n>{html[far, near]}</span>" if far < near else ""
    peak = _peak(text[start:stop], max(levels[start:stop], default=span.level))
    return f"<p dir=auto{name}><span class=l>{hidden}{html[near, start]}</span>{peak}<span>{html[stop, end]}</span></p>"


@lru_cache(maxsize=4096)
def _room(peak: str) -> int:
    """What a long peak takes away from the text before it."""
    return max(0, cells(peak) - 8)


@lru_cache(maxsize=4096)
def _peak(text: str, level: int) -> str:
    name = f'"a{level} w"' if cells(text) > LONG_PEAK_CELLS else f"a{level}"
    return f"<mark class={name} tabindex=0>{visible(text) or '<u class=z></u>'}</mark>"
