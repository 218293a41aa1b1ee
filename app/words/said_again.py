"""A sentence kept as JSON, so that whoever reads it later is told in a language of their own. Pure."""

from datetime import datetime
from typing import Any

from app.words.said import Quoted, Said

Kept = Any
"""A number or a text as it is; a list of several in a row; or an object whose only key says what it holds."""


def kept(value: Any) -> Kept:
    """The sentence, or one of its values. What JSON has no word for is kept as it reads."""
    if isinstance(value, Said):
        return {"said": [value.message, {name: kept(one) for name, one in value.values.items()}]}
    if isinstance(value, Quoted):
        return {"quoted": str(value)}
    if isinstance(value, datetime):
        return {"at": value.isoformat()}
    if isinstance(value, tuple):
        return [kept(one) for one in value]
    return value if isinstance(value, int | float) else str(value)


def said_again(value: Kept) -> Any:
    """What was kept, as it was said."""
    if isinstance(value, list):
        return tuple(said_again(one) for one in value)
    if not isinstance(value, dict):
        return value
    if "said" in value:
        message, values = value["said"]
        return Said(message, **{name: said_again(one) for name, one in values.items()})
    return Quoted(value["quoted"]) if "quoted" in value else datetime.fromisoformat(value["at"])
