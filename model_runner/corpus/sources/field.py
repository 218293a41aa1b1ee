"""The text in a field of a record, or a refusal that says what is there instead."""

from collections.abc import Mapping
from typing import Any

from model_runner.errors import RunnerError


def field_text(fields: Mapping[str, Any], field: str, where: str) -> str:
    """The text of a field. `where` names file and line.

    Raises RunnerError when the field is missing, is not text, has nothing in it, or cannot be written as UTF-8.
    """
    if field not in fields:
        names = ", ".join(map(repr, fields)) or "none"
        raise RunnerError(f"{where}: there is no field {field!r}; the fields are {names}. Name one with --field.")
    value = fields[field]
    if not isinstance(value, str):
        raise RunnerError(f"{where}: the field {field!r} holds {value!r:.60}, not text. Remove or mend the record.")
    if not value.strip("\0\ufeff \t\r\n\f\v"):
        raise RunnerError(f"{where}: the field {field!r} is empty. Remove the record.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise RunnerError(
            f"{where}: the field {field!r} has half of a surrogate pair (U+{ord(value[error.start]):04X}), "
            "which is no character. Mend the record."
        ) from error
    return value
