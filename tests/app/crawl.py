"""Everything raters and administrators can be sent of a study that is still blind, kept byte for byte."""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow.parquet as pq
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy.orm import Session

from app.models import Study
from tests.studies import PASSWORD, make_administrator

Who = Literal["anonymous", "rater", "administrator"]
SECRETS = {"password": PASSWORD, "name": "Ada"}
CODE = re.compile(r'name="assignment" value="([\w-]+)"')
KEY = re.compile(r'name="key" value="([\w-]+)"')
VERSION = re.compile(r'name="version" value="(\d+)"')
TOKEN = re.compile(r"/join/([\w-]{20,})")
TABLES = (
    "progress",
    "ratings",
    "items",
    "raters",
    "sittings",
    "practice",
    "checks",
    "guesses",
    "arms",
    "placements",
    "events",
    "dictionary",
)
VERDICTS = ("INTERPRETABLE", "NOT_INTERPRETABLE", "CANNOT_DECIDE")


@dataclass(frozen=True)
class Sent:
    """One answer of the server, and what it answered."""

    who: Who
    asked: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """Headers and body as somebody curious would read them: archives unpacked, tables spelled out."""
        # A request's random name would hold a number of five digits by chance in one run out of fourteen.
        lines = [f"{name}: {value}" for name, value in self.headers.items() if name != "x-request-id"]
        return "\n".join([self.asked, str(self.status), *lines, readable(self.body)])


def readable(body: bytes) -> str:
    if body[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return "\n".join(f"{name}\n{readable(archive.read(name))}" for name in archive.namelist())
    if body[:4] == b"PAR1":
        table = pq.read_table(io.BytesIO(body))
        return f"{table.schema.to_string(show_field_metadata=True)}\n{json.dumps(table.to_pylist(), default=str)}"
    return body.decode("utf-8", "surrogateescape")


@dataclass
class Crawl:
    """Browsers of each kind of person, and everything they were sent."""

    first: TestClient
    session: Session
    study: Study
    sent: list[Sent] = field(default_factory=list)
    codes: dict[str, str] = field(default_factory=dict)
    """What is known by now to fill the addresses of routes with."""

    def browser(self) -> TestClient:
        return TestClient(self.first.app, follow_redirects=False, raise_server_exceptions=False)

    def ask(self, browser: TestClient, who: Who, method: str, path: str, **how: Any) -> Response:
        answer = browser.request(method, path, headers={"accept-encoding": "gzip, br"} | how.pop("headers", {}), **how)
        data = how.get("data", {})
        asked = f"{method} {path} {sorted(data) if 'password' in data else data}"
        self.sent.append(Sent(who, asked, answer.status_code, dict(answer.headers), answer.content))
        return answer


def crawl(client: TestClient, session: Session, study: Study) -> Crawl:
    """A whole study up to the moment before it is unblinded, and every address there is, asked by everybody."""
    seen = Crawl(client, session, study)
    seen.codes |= {"code": study.code, "study_code": study.code}
    # Numbers of their own: a sequence goes on where another crawl stopped, and pages would differ for that.
    make_administrator(session, id=9001)
    seen.codes["administrator_id"] = str(make_administrator(session, "Eve", id=9002).id)
    administrator, raters = seen.browser(), [seen.browser(), seen.browser()]
    _sign_in(seen, administrator)
    for number, rater in enumerate(raters):
        _join(seen, administrator, rater, f"Rater {number + 1}")
    for rater in raters:
        _practise(seen, rater)
    _rate(seen, raters[0], everything=False)
    _know_sitting(seen, administrator)
    _sweep(seen, administrator, raters[0])
    for rater in raters:
        _rate(seen, rater, everything=True)
    _look_back(seen, raters[0])
    for rater in raters:
        _check_and_guess(seen, rater)
    _downloads(seen, administrator)
    _amend(seen, administrator)
    for act in ("close", "reopen", "close"):
        seen.ask(administrator, "administrator", "POST", f"/studies/{study.code}/{act}")
    _downloads(seen, administrator)
    for rater in raters:
        seen.ask(rater, "rater", "GET", "/rate")
        seen.ask(rater, "rater", "GET", "/thanks")
    _refused_unblinding(seen, administrator)
    _sweep(seen, administrator, raters[1], "HEAD", "OPTIONS", "DELETE")
    _end(seen, administrator)
    for act in ("/check/stop", "/withdraw"):
        seen.ask(raters[1], "rater", "POST", act)
    return seen


def _sign_in(seen: Crawl, browser: TestClient) -> None:
    seen.ask(browser, "anonymous", "GET", "/sign-in")
    seen.ask(browser, "anonymous", "POST", "/sign-in", data={"name": "Ada", "password": "something wrong"})
    seen.ask(browser, "administrator", "POST", "/sign-in", data=SECRETS)
    assert seen.ask(browser, "administrator", "GET", "/studies").status_code == 200
    seen.ask(browser, "administrator", "GET", "/sign-in")
    leaving = seen.browser()
    seen.ask(leaving, "administrator", "POST", "/sign-in", data=SECRETS)
    seen.ask(leaving, "administrator", "POST", "/sign-out")
    seen.ask(leaving, "anonymous", "GET", "/studies")


def _join(seen: Crawl, administrator: TestClient, rater: TestClient, name: str) -> None:
    made = seen.ask(administrator, "administrator", "POST", f"/studies/{seen.study.code}/raters", data={"name": name})
    found = TOKEN.search(made.text)
    assert found, made.text
    seen.codes["token"] = found[1]
    seen.ask(rater, "rater", "GET", f"/join/{found[1]}")
    assert seen.ask(rater, "rater", "POST", f"/join/{found[1]}", data={"consent": "yes"}).status_code == 303
    page = seen.ask(administrator, "administrator", "GET", f"/studies/{seen.study.code}").text
    for what, place in (("rater_code", "raters"), ("link_code", "links")):
        code = re.search(rf"/studies/{seen.study.code}/{place}/([\w-]+)/", page)
        if code:
            seen.codes[what] = code[1]


def _know_sitting(seen: Crawl, administrator: TestClient) -> None:
    page = seen.ask(administrator, "administrator", "GET", f"/studies/{seen.study.code}").text
    found = re.search(r"/sittings/([\w-]+)/end", page)
    assert found, page
    seen.codes["sitting_code"] = found[1]


def _rate(seen: Crawl, rater: TestClient, *, everything: bool) -> None:
    """Judge all that is there, or two; look at each as widely as possible, draft, undo and skip on the way."""
    seen.ask(rater, "rater", "POST", "/rate/begin")
    for number in range(200):
        page = seen.ask(rater, "rater", "GET", "/rate")
        if 'action="/rate/verdict"' not in page.text or (number == 2 and not everything):
            return
        code, key = CODE.search(page.text), KEY.search(page.text)
        assert code, page.text
        assert key, page.text
        seen.codes["assignment"] = code[1]
        seen.ask(rater, "rater", "GET", "/rate?wide=1")
        seen.ask(rater, "rater", "GET", f"/rate/wide/{code[1]}")
        seen.ask(rater, "rater", "POST", "/rate/draft", data={"assignment": code[1], "hypothesis": "a rule"})
        if number == 0:
            seen.ask(rater, "rater", "POST", "/rate/pause", data={"assignment": code[1], "hypothesis": "a rule"})
            seen.ask(rater, "rater", "GET", "/rate")
            seen.ask(rater, "rater", "GET", "/rate/sessions")
            seen.ask(rater, "rater", "POST", "/rate/begin")
        given = {"assignment": code[1], "key": key[1], "verdict": "INTERPRETABLE", "hypothesis": "a rule"}
        assert seen.ask(rater, "rater", "POST", "/rate/verdict", data=given).status_code == 303
        seen.ask(rater, "rater", "POST", "/rate/verdict", data=given, headers={"HX-Request": "true"})
        if number == 1 and not everything:
            seen.ask(rater, "rater", "POST", "/rate/undo", data={"assignment": code[1], "key": "undo" * 4})
    raise AssertionError("a rater never came to the end")


def _practise(seen: Crawl, rater: TestClient) -> None:
    """Practice, where the study has it, wrong answers and right ones."""
    for number in range(1, 100):
        if seen.ask(rater, "rater", "GET", "/practice").status_code == 303:
            return
        seen.ask(rater, "rater", "GET", f"/practice/wide/{number}")
        given = {"number": str(number), "verdict": VERDICTS[number % 2], "hypothesis": "a rule"}
        assert seen.ask(rater, "rater", "POST", "/practice/verdict", data=given).status_code == 303
        seen.ask(rater, "rater", "GET", "/practice")
        seen.ask(rater, "rater", "POST", "/practice/next", data={"number": str(number)})


def _check_and_guess(seen: Crawl, rater: TestClient) -> None:
    """What comes after rating, where the study has it."""
    seen.ask(rater, "rater", "POST", "/next-part")
    for path, act, said in (
        ("/check", "/check/answer", {"fires": ["1", "4"]}),
        ("/guesses", "/guesses/guess", {"guess": "UNKNOWN"}),
    ):
        for number in range(1, 100):
            if seen.ask(rater, "rater", "GET", path).status_code == 303:
                break
            assert seen.ask(rater, "rater", "POST", act, data={"number": str(number), **said}).status_code == 303


def _look_back(seen: Crawl, rater: TestClient) -> None:
    given = seen.ask(rater, "rater", "GET", "/rate/given")
    code = re.search(r"/rate/given/([\w-]+)", given.text)
    assert code, given.text
    page = seen.ask(rater, "rater", "GET", f"/rate/given/{code[1]}")
    key, version = KEY.search(page.text), VERSION.search(page.text)
    assert key, page.text
    assert version, page.text
    edit = {"key": key[1], "version": version[1], "verdict": "NOT_INTERPRETABLE", "hypothesis": ""}
    assert seen.ask(rater, "rater", "POST", f"/rate/given/{code[1]}", data=edit).status_code == 303


def _downloads(seen: Crawl, administrator: TestClient) -> None:
    study = f"/studies/{seen.study.code}"
    pages = ("", "/exports", "/exports/seal.json", "/exports/everything.zip", "/unblind", "/report", "/report.json")
    for path in (*pages, *(f"/exports/{table}.{form}" for table in TABLES for form in ("csv", "json", "parquet"))):
        seen.ask(administrator, "administrator", "GET", study + path)


def _refused_unblinding(seen: Crawl, administrator: TestClient) -> None:
    data = {"name": "another name", "reason": "curiosity", "password": PASSWORD}
    answer = seen.ask(administrator, "administrator", "POST", f"/studies/{seen.study.code}/unblind", data=data)
    assert answer.status_code == 422


def _amend(seen: Crawl, administrator: TestClient) -> None:
    data = {"alpha": "0.01", "reason": "a stricter level was agreed on"}
    answer = seen.ask(administrator, "administrator", "POST", f"/studies/{seen.study.code}/plan", data=data)
    assert answer.status_code == 303
    seen.ask(administrator, "administrator", "GET", f"/studies/{seen.study.code}/plan")
    data = {"item": "nowhere", "reason": "curiosity", "password": PASSWORD}
    answer = seen.ask(administrator, "administrator", "POST", f"/studies/{seen.study.code}/open-item", data=data)
    assert answer.status_code == 404


def _end(seen: Crawl, administrator: TestClient) -> None:
    """Acts that shut somebody out, and each address once more that is then theirs no longer."""
    study = f"/studies/{seen.study.code}"
    for place, act in (
        ("sittings/{sitting_code}", "end"),
        ("links/{link_code}", "revoke"),
        ("raters/{rater_code}", "free"),
        ("raters/{rater_code}", "deactivate"),
        ("raters/{rater_code}", "reactivate"),
        ("raters/{rater_code}", "withdraw"),
    ):
        seen.ask(administrator, "administrator", "POST", f"{study}/{place.format(**seen.codes)}/{act}")
    seen.ask(administrator, "administrator", "GET", study)
    for act in ("deactivate", "reactivate"):
        seen.ask(administrator, "administrator", "POST", f"/administrators/{seen.codes['administrator_id']}/{act}")


# ---- every route, by everybody ------------------------------------------------------------------

FILL = {
    "name": ["progress", "glance.css"], "form": ["csv", "svg"], "what": ["end"], "rater_code": ["none"],
    "link_code": ["none"], "sitting_code": ["none"], "assignment": ["none"], "file": ["glance.css"], "item": ["none"],
    "number": ["1"], "administrator_id": ["999999"],
}  # fmt: skip
CHANGES = re.compile(r"/(close|reopen|deactivate|end|revoke|withdraw|next-part|stop|free)$")
"""Posts without fields that would end what is being looked at."""
SKIPPED = {"/sign-out", "/sign-in"}
"""They change who is asking; asked on their own above."""


def _sweep(seen: Crawl, administrator: TestClient, rater: TestClient, *other_methods: str) -> None:
    """Every address as everybody, with codes that exist, of another study, and without what the forms want."""
    everybody: list[tuple[Who, TestClient]] = [
        ("anonymous", seen.browser()), ("rater", rater), ("administrator", administrator)
    ]  # fmt: skip
    for path in [
        *paths(seen, unknown=bool(other_methods)),
        "/openapi.json",
        "/docs",
        "/robots.txt",
        "/favicon.ico",
        "/metrics",
        "/static/",
    ]:
        for who, browser in everybody:
            seen.ask(browser, who, "GET", path)
            for method in other_methods:
                seen.ask(browser, who, method, path)
            if not CHANGES.search(path):
                seen.ask(browser, who, "POST", path, data={"nothing": "wanted"})


def paths(seen: Crawl, *, unknown: bool) -> Iterator[str]:
    """The address of every route with codes that there are, and with codes that there are not."""
    for route in api_routes(seen.first):
        if route.path in SKIPPED:
            continue
        names = re.findall(r"{(\w+)(?::\w+)?}", route.path)
        plain = re.sub(r"{(\w+):\w+}", r"{\1}", route.path)
        yield plain.format(**{name: seen.codes.get(name) or FILL[name][0] for name in names})
        if names and unknown:
            yield plain.format(**dict.fromkeys(names, "nowhere"))


def api_routes(client: TestClient) -> list[APIRoute]:
    found: list[APIRoute] = []

    def collect(routes: Any) -> None:
        for route in routes:
            if isinstance(route, APIRoute):
                found.append(route)
            elif hasattr(route, "original_router"):  # what include_router leaves in the application
                collect(route.original_router.routes)

    collect(client.app.routes)  # type: ignore[attr-defined]
    assert len(found) > 30
    return found
