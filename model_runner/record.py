"""Records that lie in JSON files as frozen dataclasses: checked field by field, against their own annotations."""

import json
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import cache
from math import isfinite
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

Record = TypeVar("Record")

_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


class Unfit(Exception):
    """What is wrong with a record, as the rest of a sentence that begins with the name of its file."""


def record_of(kind: type[Record], values: Mapping[str, Any]) -> Record:
    """A record from what was read of a JSON or TOML file. No type is taken for another, and no name may be too many.

    Raises Unfit for the first field that is missing, unknown, of another type or choice, or a number that is not
    finite, and whatever the dataclass' own `__post_init__` raises.
    """
    return record_in(kind, json.dumps(values, default=str))


def record_in(kind: type[Record], text: str | bytes) -> Record:
    """The same from the text of one JSON object."""
    try:
        record: Record = _adapter(kind).validate_json(text, strict=True, extra="forbid")
    except ValidationError as error:
        raise Unfit(_said(error.errors(include_url=False)[0])) from None
    _refuse_not_finite(record)
    return record


def _refuse_not_finite(record: object) -> None:
    """NaN and the infinities are no JSON, though Python reads and writes them, and no file is to carry them on."""
    for name, value in vars(record).items() if is_dataclass(record) else ():
        if isinstance(value, float) and not isfinite(value):
            raise Unfit(f"says that {name} is {value}, which should be a finite number")


def object_in(text: str | bytes) -> dict[str, Any]:
    """One JSON object. Raises ValueError for what is none; NaN and the infinities are no JSON."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"it is not a JSON object but a {type(value).__name__}")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _said(wrong: ErrorDetails) -> str:
    name = ".".join(map(str, wrong["loc"]))
    if wrong["type"] == "missing":
        return f"does not say {name}"
    if wrong["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"says {name}, which this program does not know"
    if not name:
        return f"is no such record ({wrong['msg']})"
    # pydantic speaks of "Input" or of the type: "String should match pattern …".
    should = wrong["msg"].partition(" should ")[2] or wrong["msg"]
    return f"says that {name} is {reprlib.repr(wrong['input'])}, which should {should}"
