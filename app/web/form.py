"""A form as a browser sends it, read and checked in one go, for the pages that are sent most."""

from functools import cache
from typing import Any, TypeVar, get_origin
from urllib.parse import parse_qsl

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from app.errors import Invalid
from app.web.misread import NOT_A_FORM, TOO_MANY_FIELDS

Form = TypeVar("Form", bound=BaseModel)
MOST_FIELDS = 1000
KIND = "application/x-www-form-urlencoded"


async def read_form(request: Request, kind: type[Form]) -> Form:
    """The same as FastAPI's own fields of a form, which take about as long to read as a verdict takes to store."""
    given: dict[str, Any] = {}
    for name, value in await _fields(request):
        if name in _lists(kind):
            given.setdefault(name, []).append(value)
        else:
            given[name] = value  # of several the last
    try:
        return kind.model_validate({name: value for name, value in given.items() if value != ""})
    except ValidationError as error:
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from None


def described(kind: type[BaseModel]) -> dict[str, Any]:
    """What FastAPI is told of such a route, for whoever asks the application what it takes."""
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in kind.model_fields}}
    return {"requestBody": {"content": {KIND: {"schema": schema}}}}


async def _fields(request: Request) -> list[tuple[str, Any]]:
    try:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != KIND:
            async with request.form() as form:
                return form.multi_items()
        body = (await request.body()).decode("latin-1")
    # In an alphabet, named by whoever sent it, that cannot hold it; or cut short, and then nobody reads the answer.
    except (UnicodeError, ClientDisconnect):
        raise Invalid(NOT_A_FORM) from None
    try:
        return parse_qsl(body, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise Invalid(TOO_MANY_FIELDS) from None


@cache
def _lists(kind: type[BaseModel]) -> frozenset[str]:
    """Fields that may be sent several times."""
    return frozenset(name for name, field in kind.model_fields.items() if get_origin(field.annotation) is list)
