"""A sentence with values in it: English as it stands, and said in another language where somebody reads it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self


def N_(message: str) -> str:
    """Marks a message that is translated where it is shown."""
    return message


class Said(str):
    """Values may be numbers, names, moments, other sentences, or several of those in a row."""

    __slots__ = ("message", "values")
    message: str
    """With places for the values, as %(name)s: what catalogues know."""
    values: Mapping[str, Any]

    def __new__(cls, message: str, **values: Any) -> Self:
        filled = message % {name: _plain(value) for name, value in values.items()} if values else message
        made = super().__new__(cls, filled)
        made.message, made.values = message, values
        return made


class Quoted(str):
    """Words of another program, which no catalogue knows: they stay in English, and a page says that they are."""

    __slots__ = ()


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return f"{value:%-d %B %Y, %H:%M} UTC"
    return " ".join(value) if isinstance(value, tuple) else value
