"""Tokens become characters: each character is shown once, even where several tokens share its bytes.

Text and levels run side by side, a level a character, so that everything after is slicing.
"""

import codecs
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

_SIGNED = re.compile(r"[\n\t\r\u00a0]")
_ESCAPED = re.compile("[\x00\udc80-\udcff]")
_FLAG_HALVES = range(0x1F1E6, 0x1F200)
_SKIN_COLOURS = range(0x1F3FB, 0x1F400)
_JOINER = "\u200d"


class Line(NamedTuple):
    """The characters of a snippet."""

    text: str
    """Bytes that are no character stand in it as lone surrogates (PEP 383)."""
    levels: bytes
    """One a character."""
    start: int
    stop: int
    """The characters of the peak: [start, stop)."""


def line(texts: Sequence[bytes], levels: Sequence[int], peak: int, *, starts: bool, ends: bool) -> Line:
    """Join tokens into characters, each shaded by the highest of its tokens.

    `starts` and `ends`: nothing comes before the first token, or after the last. Otherwise a character that the
    edge cuts is left out, like the text beyond it.
    """
    raw = b"".join(texts)
    shades = b"".join(bytes([level]) * len(text) for text, level in zip(texts, levels, strict=True))
    start = sum(map(len, texts[:peak]))
    stop = start + len(texts[peak])
    if raw.isascii():
        return Line(raw.decode(), shades, start, stop)
    head = 0 if starts else _rest_of_a_character(raw)
    text, _ = codecs.utf_8_decode(raw[head:], "surrogateescape", ends)
    return _whole(_by_character(text, shades[head:], start - head, stop - head))


def cells(text: str) -> int:
    """How many columns of a monospaced line the text takes with its signs, at most."""
    wide = 0 if text.isascii() else sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide + len(_SIGNED.findall(text)) + 3 * len(_ESCAPED.findall(text))


def extends(text: str, at: int) -> bool:
    """Whether the character is drawn together with the one before: an accent, a joined emoji, half a flag."""
    character = text[at]
    if at == 0 or character.isascii():
        return False
    if character == _JOINER or ord(character) in _SKIN_COLOURS or unicodedata.category(character)[0] == "M":
        return True
    if text[at - 1] == _JOINER:
        return True
    return ord(character) in _FLAG_HALVES and _flag_halves_before(text, at) % 2 == 1


def _flag_halves_before(text: str, at: int) -> int:
    count = 0
    while count < at and ord(text[at - count - 1]) in _FLAG_HALVES:
        count += 1
    return count


def _rest_of_a_character(raw: bytes) -> int:
    """How many bytes at the beginning continue a character that began before."""
    count = 0
    while count < min(3, len(raw)) and raw[count] & 0xC0 == 0x80:
        count += 1
    return count


def _by_character(text: str, shades: bytes, start: int, stop: int) -> Line:
    """From a level a byte to a level a character."""
    levels, at, first, last = bytearray(), 0, 0, 0
    for character in text:
        end = at + (1 if "\udc80" <= character <= "\udcff" else len(character.encode()))
        levels.append(max(shades[at:end]))
        first += end <= start
        last += at < stop
        at = end
    return Line(text, bytes(levels), first, max(first, last))


def _whole(found: Line) -> Line:
    """Characters that are drawn together are shaded together, and the peak takes them whole."""
    text, levels, start, stop = found.text, bytearray(found.levels), found.start, found.stop
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and extends(text, end):
            end += 1
        levels[at:end] = bytes([max(levels[at:end])]) * (end - at)
        if start < stop and at < stop and start < end:
            start, stop = min(start, at), max(stop, end)
        at = end
    return Line(text, bytes(levels), start, stop)
