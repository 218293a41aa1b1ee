"""Activations become shades: HTML of the snippets of one item, rendered once when a study is frozen.

Only the share of the neuron's own maximum is shown, in sixteen levels: a value, a sign or a decimal would
tell which model it came from. The text of every snippet is the source text, character for character.
"""

import re
from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from app.rating.characters import Line, cells, extends, line

LEVELS = 15
NEAR_CELLS, FAR_CELLS = 62, 130
"""Text kept before the peak on narrow and on wide screens, so that three lines always reach the peak."""
LONG_PEAK_CELLS = 20
BEFORE_SHARE = 5 / 8
"""More to the left of the peak than to the right: a causal model only saw the left."""


class Shown(NamedTuple):
    """A snippet as it is to be shown."""

    texts: Sequence[bytes]
    """The bytes of each token; special tokens and padding are already left out."""
    activations: Sequence[float]
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
    return Fragments(_columns(snippets, top, tokens), _columns(snippets, top, wide_tokens))


def pad(fragment: bytes, length: int) -> bytes:
    """Make the fragment exactly `length` bytes long: its length would tell how dense the activations are."""
    if len(fragment) > length:
        raise ValueError(f"A fragment of {len(fragment)} bytes cannot be padded to {length}.")
    return fragment.ljust(length)


def maximum(snippets: Sequence[Shown]) -> float:
    """The highest finite peak of the item; nothing is shaded where it is not above zero."""
    peaks = (float(shown.activations[shown.peak]) for shown in snippets)
    return max(filter(isfinite, peaks), default=0.0)


def shares(activations: Sequence[float], top: float) -> list[int]:
    """Levels 0 to 15: the share of the maximum. Negatives, NaN and all of a neuron that never fired are 0."""
    if not top > 0:
        return [0] * len(activations)
    scale = LEVELS / top
    return [(LEVELS if one >= top else round(one * scale)) if one > 0 else 0 for one in activations]


def rows(snippets: Sequence[Shown], top: float, tokens: int = 64, first: int = 1, prefix: str = "w") -> str:
    """List items, numbered from `first`. An element with the id `prefix` says what the checkboxes do."""
    return "\n".join(
        f"<li><input type=checkbox id={prefix}{n} name=widened form=verdict aria-label={n} "
        f'aria-labelledby="{prefix} {prefix}{n}">'
        f"{paragraph(shown, top, tokens)}"
        for n, shown in enumerate(snippets, first)
    )


def paragraph(shown: Shown, top: float, tokens: int = 64) -> str:
    """One snippet: what comes before the peak, the peak, and what comes after."""
    before = round(tokens * BEFORE_SHARE)
    window = range(max(0, shown.peak - before), min(len(shown.texts), shown.peak + tokens - before))
    levels = shares(shown.activations[window.start : window.stop], top)
    starts = window.start == 0 and shown.document_start
    ends = window.stop == len(shown.texts) and shown.document_end
    texts = shown.texts[window.start : window.stop]
    text = line(texts, levels, shown.peak - window.start, starts=starts, ends=ends)
    room = max(0, cells(text.text[text.start : text.stop]) - 8)
    near, far = _cut(text, NEAR_CELLS - room), _cut(text, FAR_CELLS - room)
    hidden = _span("f", text, 0, far) + _span("n", text, far, near)
    name = _edges(starts, ends)
    return (
        f"<p dir=auto{name}><span class=l>{hidden}{_shaded(text, near, text.start)}</span>"
        f"{_peak(text, levels[shown.peak - window.start])}<span>{_shaded(text, text.stop, len(text.text))}</span></p>"
    )


def _edges(starts: bool, ends: bool) -> str:
    """Where nothing is missing there is no “…”."""
    return ("", " class=b", " class=z", ' class="b z"')[starts + 2 * ends]


def _columns(snippets: Sequence[Shown], top: float, tokens: int) -> bytes:
    half = (len(snippets) + 1) // 2
    left, right = rows(snippets[:half], top, tokens), rows(snippets[half:], top, tokens, half + 1)
    return f"<ol role=list>\n{left}\n</ol>\n<ol role=list start={half + 1}>\n{right}\n</ol>\n".encode()


def _cut(text: Line, limit: int) -> int:
    """Where to start so that about `limit` cells come before the peak: at a word if one begins near."""
    at = max(0, text.start - max(0, limit))
    room = cells(text.text[at : text.start])
    while at < text.start and room > limit:
        room -= cells(text.text[at])
        at += 1
    if at < 8:
        return 0
    space = re.compile(r"\s").search(text.text, at, min(at + 12, text.start))
    if space:
        return space.start()
    while at < text.start and extends(text.text, at):
        at += 1
    return at


def _span(name: str, text: Line, start: int, stop: int) -> str:
    return f"<span class={name}>{_shaded(text, start, stop)}</span>" if start < stop else ""


# ---- characters to HTML -------------------------------------------------------------------------

_RUN = re.compile(rb"(.)\1*", re.DOTALL)
_SIGNS = {
    "": r"\n *",
    "t": r"\t",
    "r": r"\r",
    # Blank characters other than the space: no-break, thin, ideographic, Hangul fillers, blank Braille.
    "s": r"[\u00a0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0]",
    # Characters without width: controls, marks of direction, joiners that join nothing, tags.
    "z": r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f]|(?<!\S)\u200d",
    # What HTML cannot hold: NUL, and bytes that are no character.
    "x": r"[\x00\udc80-\udcff]",
}
_SIGN = re.compile("|".join(f"(?P<{name or 'n'}>{pattern})" for name, pattern in _SIGNS.items()))
_SPECIAL = re.compile(r"[^ -%'-;=?-~]")
"""What is not written as it is."""
_OPEN = [f"<i class=a{step}>" for step in range(LEVELS + 1)]
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})


def _shaded(text: Line, start: int, stop: int) -> str:
    """Neighbours of one level share an element; level 0 is bare text."""
    out = []
    special = [found.start() for found in _SPECIAL.finditer(text.text, start, stop)] + [stop]
    at = 0
    for run in _RUN.finditer(text.levels, start, stop):
        first, last = run.span()
        step, part = text.levels[first], text.text[first:last]
        if special[at] >= last:
            out.append(f"{_OPEN[step]}{part}</i>" if step else part)
            continue
        while special[at] < last:
            at += 1
        if step and (sign := _SIGN.fullmatch(part)):
            out.append(_sign(sign, step))
        else:
            out.append(f"{_OPEN[step]}{_visible(part)}</i>" if step else _visible(part))
    return "".join(out)


def _peak(text: Line, step: int) -> str:
    part = text.text[text.start : text.stop]
    step = max(text.levels[text.start : text.stop], default=step)
    long = cells(part) > LONG_PEAK_CELLS
    name = f'"a{step} w"' if long else f"a{step}"
    return f"<mark class={name} tabindex=0>{_visible(part) or '<u class=z></u>'}</mark>"


def _visible(part: str) -> str:
    """Escaped text in which every character that cannot be seen carries a sign."""
    out, at = [], 0
    for sign in _SIGN.finditer(part):
        out += [part[at : sign.start()].translate(_ESCAPES), _sign(sign)]
        at = sign.end()
    return "".join(out) + part[at:].translate(_ESCAPES)


def _sign(found: re.Match[str], step: int = 0) -> str:
    kind = str(found.lastgroup)
    inner = f"\\x{ord(found[0]) & 0xFF:02X}" if kind == "x" else found[0].translate(_ESCAPES)
    names = ([] if kind == "n" else [kind]) + ([f"a{step}"] if step else [])
    if not names:
        return f"<u>{inner}</u>"
    return f'<u class="{" ".join(names)}">{inner}</u>' if len(names) > 1 else f"<u class={names[0]}>{inner}</u>"
