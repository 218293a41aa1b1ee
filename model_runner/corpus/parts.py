"""The parts of the default corpus that a rater can be expected to read."""

from collections.abc import Sequence

ENGLISH = ("encyclopedia-en", "plays", "scripture", "recipes-en")
CODE = ("python", "cpp", "javascript", "css", "html")
READABLE = (*ENGLISH, *CODE)


def readable(parts: Sequence[str]) -> list[str]:
    """The parts to collect over by default: those of READABLE, or all of a corpus that has none of them."""
    return [part for part in parts if part in READABLE] or list(parts)
