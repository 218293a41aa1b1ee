"""The script that a token's letters are of, as far as its bytes tell.

A token of a byte-level vocabulary may hold only the beginning of a character. Its first byte still fixes a range of
characters; where all letters of the range are of one script, that script is known.
"""

import unicodedata
from functools import cache


@cache
def script_of(character: str) -> str | None:
    """LATIN, CYRILLIC, CJK, …: the first word of a letter's name in Unicode; None for what is no letter."""
    if unicodedata.category(character)[0] != "L":
        return None
    return unicodedata.name(character, "").split(" ", 1)[0].split("-", 1)[0] or None


def scripts_of(token: bytes) -> frozenset[str]:
    """The scripts of all letters in a token."""
    text = token.decode("utf-8", "surrogateescape")
    whole = {script_of(character) for character in text}
    return frozenset(name for name in whole | {_of_beginning(token)} if name is not None)


def _of_beginning(token: bytes) -> str | None:
    """The script of the character that is cut off at the token's end."""
    for at in range(max(0, len(token) - 3), len(token)):
        length = _length(token[at])
        if length > len(token) - at:
            return _of_range(token[at:], length)
    return None


def _length(first: int) -> int:
    """Bytes of a character that begins with this one; 1 for a byte that begins none of several."""
    return 2 if 0xC2 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4 if 0xF0 <= first < 0xF5 else 1


@cache
def _of_range(beginning: bytes, length: int) -> str | None:
    try:
        low, high = (ord((beginning + fill * (length - len(beginning))).decode()) for fill in (b"\x80", b"\xbf"))
    except UnicodeDecodeError:  # E0, ED, F0 and F4 do not take every next byte
        return None
    if high - low > 0xFFFF:
        return None
    found = {script_of(chr(code)) for code in range(low, high + 1)} - {None}
    return found.pop() if len(found) == 1 else None
