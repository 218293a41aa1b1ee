"""Activations become shades: HTML of the snippets of one item, rendered once when a study is frozen.

The text of every snippet is the source text, character for character.
"""

from collections.abc import Sequence
from typing import NamedTuple

from app.rating.paragraphs import paragraphs
from app.rating.snippets import Shown, maximum


class Fragments(NamedTuple):
    """The HTML of an item, not yet padded."""

    narrow: bytes
    wide: bytes


def render_item(snippets: Sequence[Shown], tokens: int = 64, wide_tokens: int = 128) -> Fragments:
    """The snippets of an item, best first, in two columns: with `tokens` around each peak, and with more."""
    wide, narrow = paragraphs(snippets, maximum(snippets), wide_tokens, tokens)
    return Fragments(columns(rows(narrow)), columns(rows(wide)))


def pad(fragment: bytes, length: int) -> bytes:
    """Make the fragment exactly `length` bytes long: its length would tell how dense the activations are."""
    if len(fragment) > length:
        raise ValueError(f"A fragment of {len(fragment)} bytes cannot be padded to {length}.")
    return fragment.ljust(length)


def rows(shown: Sequence[str], prefix: str = "w") -> list[str]:
    """List items of paragraphs, numbered from 1. An element with the id `prefix` says what the checkboxes do."""
    return [
        f"<li><input type=checkbox id={prefix}{n} name=widened form=verdict aria-label={n} "
        f'aria-labelledby="{prefix} {prefix}{n}">{html}'
        for n, html in enumerate(shown, 1)
    ]


def columns(items: Sequence[str]) -> bytes:
    """List items in two columns, the second of which goes on counting."""
    half = (len(items) + 1) // 2
    left, right = "\n".join(items[:half]), "\n".join(items[half:])
    return f"<ol role=list>\n{left}\n</ol>\n<ol role=list start={half + 1}>\n{right}\n</ol>\n".encode()
