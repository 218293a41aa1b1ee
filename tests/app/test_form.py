"""A form read in one go: the same fields, and the same errors, as FastAPI reads them."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any
from urllib.parse import quote_plus

import pytest
from fastapi import FastAPI, Form, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from starlette.types import Message

from app.errors import Invalid
from app.models import Verdict
from app.rating.routes import KEY, VerdictForm
from app.web.form import KIND, MOST_FIELDS, read_form
from app.web.params import FormText, NoNul, ShortText


class Small(BaseModel):
    """With a number, as other forms have."""

    version: Annotated[int, Field(ge=1, le=9)]
    verdict: Verdict
    key: Annotated[str, Field(max_length=64, pattern=KEY)]
    hypothesis: Annotated[str, Field(max_length=10_000), NoNul] = ""
    ticks: list[Annotated[str, Field(max_length=200), NoNul]] = []


def told(error: RequestValidationError) -> list[Any]:
    """What a sentence about the errors could say. Of a field that is missing, not what was there instead."""
    return [
        [one["type"], list(one["loc"]), one["type"] == "missing" or str(one["input"]), str(one.get("ctx"))]
        for one in error.errors()
    ]


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    app = FastAPI()

    @app.post("/theirs")
    def theirs(
        version: Annotated[int, Form(ge=1, le=9)],
        verdict: Annotated[Verdict, Form()],
        key: Annotated[str, Form(max_length=64, pattern=KEY)],
        hypothesis: FormText = "",
        ticks: Annotated[list[ShortText], Form()] = [],  # noqa: B006
    ) -> Small:
        return Small(version=version, verdict=verdict, key=key, hypothesis=hypothesis, ticks=ticks)

    @app.post("/ours")
    async def ours(request: Request) -> Small:
        return await read_form(request, Small)

    @app.exception_handler(RequestValidationError)
    def wrong(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return JSONResponse(told(error), 422)

    @app.exception_handler(Invalid)
    def refused(_request: Request, error: Exception) -> JSONResponse:
        return JSONResponse(str(error), 422)

    with TestClient(app) as client:
        yield client


GOOD = [("version", "3"), ("verdict", "INTERPRETABLE"), ("key", "abcdefgh")]
NAMES = st.sampled_from(["version", "verdict", "key", "hypothesis", "ticks", "other", ""])
VALUES = st.one_of(
    st.sampled_from(["", "1", "10", "x", "NOT_INTERPRETABLE", "abcdefgh", "a" * 65, "a" * 201, "\x00", " 3 ", "3.0"]),
    st.text(max_size=20),
)
FIELDS = st.lists(st.tuples(NAMES, VALUES), max_size=6)


@given(fields=FIELDS, good=st.booleans())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_reads_what_fastapi_reads(client: TestClient, fields: list[tuple[str, str]], good: bool) -> None:
    sent = [*GOOD, *fields] if good else fields
    body = "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in sent)
    theirs, ours = (client.post(path, content=body, headers={"content-type": KIND}) for path in ("/theirs", "/ours"))
    assert (ours.status_code, ours.json()) == (theirs.status_code, theirs.json())


@pytest.mark.parametrize(
    "body", ["version=%ff%zz&key=%E2%82", "version=%00", "&&=&a", "version", "ticks=a;ticks=b", "%"]
)
def test_it_reads_strange_bytes_as_fastapi_does(client: TestClient, body: str) -> None:
    whole = f"{body}&verdict=INTERPRETABLE"
    theirs, ours = (client.post(path, content=whole, headers={"content-type": KIND}) for path in ("/theirs", "/ours"))
    assert (ours.status_code, ours.json()) == (theirs.status_code, theirs.json())


@pytest.mark.parametrize("kind", [f"{KIND}; charset=utf-8", KIND.upper(), "application/json", "text/plain", None])
def test_the_kind_of_body_counts_as_with_fastapi(client: TestClient, kind: str | None) -> None:
    body = "version=3&verdict=INTERPRETABLE&key=abcdefgh"
    headers = {"content-type": kind} if kind else {}
    theirs, ours = (client.post(path, content=body, headers=headers) for path in ("/theirs", "/ours"))
    assert (ours.status_code, ours.json()) == (theirs.status_code, theirs.json())


def test_a_form_in_parts_is_read_too(client: TestClient) -> None:
    parts = {name: (None, value) for name, value in GOOD} | {"hypothesis": (None, "one\r\ntwo")}
    theirs, ours = (client.post(path, files=parts) for path in ("/theirs", "/ours"))
    assert ours.status_code == theirs.status_code == 200
    assert ours.json() == theirs.json()
    file: dict[str, tuple[str | None, str | bytes]] = {**parts, "hypothesis": ("a.txt", b"a file")}
    assert client.post("/ours", files=file).status_code == 422


def test_a_form_with_very_many_fields_is_refused_by_a_sentence(client: TestClient) -> None:
    answer = client.post("/ours", content="&".join(["a=1"] * (MOST_FIELDS + 1)), headers={"content-type": KIND})
    assert answer.status_code == 422
    assert "more fields than any of ours" in answer.text


@pytest.mark.parametrize("kind", [KIND, "multipart/form-data; boundary=XX"])
def test_who_goes_away_while_sending_is_no_fault_of_ours(kind: str) -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "POST", "path": "/ours", "headers": [(b"content-type", kind.encode())]}
    with ThreadPoolExecutor(1) as pool, pytest.raises(Invalid, match="cannot be read as a form"):
        pool.submit(asyncio.run, read_form(Request(scope, receive), Small)).result()


def test_the_form_of_a_verdict_is_checked_in_this_order() -> None:
    """The first error is the one that is said."""
    assert list(VerdictForm.model_fields) == ["assignment", "verdict", "key", "hypothesis", "lined_up", "widened"]
