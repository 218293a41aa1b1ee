"""A document and how its text is cleaned."""

from typing import NamedTuple


class Document(NamedTuple):
    """One text of one kind."""

    text: str
    part: str
    """The kind or language, such as "python" or "encyclopedia-en"."""


def clean(text: str) -> str:
    """The text with one kind of line end, no form feeds, no NUL and no byte order mark in front."""
    text = text.removeprefix("\ufeff").replace("\0", "")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
