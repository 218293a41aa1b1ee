"""Tokens become characters: each character is shown once, even where several tokens share its bytes.

Text and levels run side by side, a level a character, so that everything after is slicing.
"""

import codecs
import re
import unicodedata
from typing import NamedTuple

_SIGNED = re.compile(r"[\n\t\r\u00a0]")
_MAYBE_WIDE = re.compile("[\u1100-\U0010ffff]")
_ESCAPED = re.compile("[\x00\udc80-\udcff]")
_FLAG_HALVES = range(0x1F1E6, 0x1F200)
_SKIN_COLOURS = range(0x1F3FB, 0x1F400)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
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


def line(raw: bytes, shades: bytes, start: int, stop: int, *, starts: bool, ends: bool) -> Line:
    """Make characters of bytes, each shaded by the highest of its bytes. The peak is [start, stop).

    `starts` and `ends`: the document begins with the first byte, or ends with the last. Otherwise a character that
    the edge cuts is left out, like the text beyond it, unless it is the peak.
    """
    if raw.isascii():
        return Line(raw.decode(), shades, start, stop)
    head = 0 if starts else min(start, _rest_of_a_character(raw))
    text, _ = codecs.utf_8_decode(raw[head:], "surrogateescape", ends or stop == len(raw))
    peaks = bytes(start) + b"\1" * (stop - start) + bytes(len(raw) - stop)
    shades, peaks = _by_character(text, shades[head:]), _by_character(text, peaks[head:])
    if 1 not in peaks:  # a peak without text of its own
        start = stop = len(codecs.utf_8_decode(raw[head:start], "surrogateescape", False)[0])
        return Line(text, shades, start, stop)
    return Line(text, shades, peaks.index(1), peaks.rindex(1) + 1)


def cells(text: str) -> int:
    """How many columns of a monospaced line the text takes with its signs, at most."""
    if text.isascii():
        return len(text) + text.count("\n") + text.count("\t") + text.count("\r") + 3 * text.count("\0")
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in _MAYBE_WIDE.findall(text))
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


def _by_character(text: str, values: bytes) -> bytes:
    """From a value a byte to a value a character: the highest of what the character, drawn whole, is made of."""
    out, at = bytearray(), 0
    for run in _NOT_ASCII.finditer(text):
        before = run.start() - len(out)
        out += values[at : at + before]
        at += before
        for character in run[0]:
            end = at + _length(character)
            out.append(max(values[at:end]))
            at = end
    out += values[at : at + len(text) - len(out)]
    drawn_on = [at for run in _NOT_ASCII.finditer(text) for at in range(*run.span()) if extends(text, at)]
    for at in drawn_on:
        out[at] = max(out[at - 1 : at + 1])
    for at in reversed(drawn_on):
        out[at - 1] = out[at]
    return bytes(out)


def _length(character: str) -> int:
    """Bytes of a character in the source; a lone surrogate stands for one byte."""
    return 1 if "\udc80" <= character <= "\udcff" else len(character.encode())
