"""What may not be known is in no byte that is sent: every route, by everybody, through a whole study."""

import re
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from shutil import copytree
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Arm, Item, ItemKey, Placement, Study
from app.settings import Settings
from app.studies.actions import unblind_study
from model_runner.run.folder import open_run
from tests.app.crawl import Crawl, Sent, api_routes, crawl
from tests.app.seated import stopped_clock
from tests.studies import LABELS, PHASES, exchanged_runs, make_administrator, make_study, phased_runs, sign_in, two_runs

DESIGN: dict[str, Any] = {"neurons_per_arm": 6, "seats": 2, "overlap": 2} | PHASES
DIGITS = re.compile(r"(?<=\d)[  ,.](?=\d{3}\b)")


def traces() -> dict[str, re.Pattern[str]]:
    """What would give an arm away, and how it could be spelled."""
    infos = [open_run(run).info for run in two_runs()]
    words = [*(info.name for info in infos), "gelu", "solu", "before_norm", "glance-runs"]
    numbers = [
        *(str(label[name]) for label in LABELS for name in ("size", "seed", "train_tokens")),
        *(f"{label['validation_loss']:.3f}" for label in LABELS),
    ]
    digests = [value for info in infos for value in (info.digest, info.checkpoint_digest)]
    found = {text: re.compile(re.escape(text), re.IGNORECASE) for text in [*words, *numbers]}
    return found | {f"digest {text[:8]}": re.compile(text[:16]) for text in digests}


def allowed(sent: Sent, study: Study) -> set[str]:
    """That a study compares certain arms its administrator knows: their names stand on its page, in one order."""
    names = {label["name"] for label in LABELS}
    if sent.who == "rater" and sent.asked.startswith("GET /guesses ") and sent.status == 200:
        return {"gelu", "solu"}  # who guesses has given every verdict, and is told what there is to choose from
    if sent.who != "administrator":
        return set()
    path = sent.asked.split()[1]
    if path.startswith("/power"):
        return {"gelu", "solu"}  # an example that is about no study
    if path.startswith("/studies/new"):
        return set(traces())  # the runs on this machine; which of them a study compares is not said here
    if path == f"/studies/{study.code}/study.toml":
        return {
            "gelu",
            "solu",
            "glance-runs",
        }  # which runs the study compares, in one order; nothing joins them to items
    if path == f"/studies/{study.code}/plan":
        return {"gelu", "solu"}  # with which condition the others are compared; nothing joins it to an item
    return names if path == f"/studies/{study.code}" else set()


@pytest.fixture
def seen(client: TestClient, session: Session, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Crawl:
    stopped_clock(monkeypatch)
    for run in two_runs():
        copytree(run, settings.runs_dir / run.name)
    return crawl(client, session, make_study(session, settings, runs=phased_runs(), **DESIGN))


def test_no_byte_before_unblinding_gives_an_arm_away(seen: Crawl, session: Session, settings: Settings) -> None:
    study = seen.study
    patterns = traces()
    for sent in seen.sent:
        text = DIGITS.sub("", sent.text)
        found = {name for name, pattern in patterns.items() if pattern.search(text)}
        assert found <= allowed(sent, study), f"{sent.who}: {sent.asked} answered {sent.status} with {found}"
    _arms_stand_in_one_order(seen, session)
    _codes_of_the_sealed_world_stay_in(seen, session)
    _answers_say_nothing_by_their_form(seen)
    _every_route_was_asked(seen)
    _the_same_eyes_see_arms_once_it_is_unblinded(seen, session, settings)


def _arms_stand_in_one_order(seen: Crawl, session: Session) -> None:
    pages = [
        s.text for s in seen.sent if s.who == "administrator" and s.asked.startswith(f"GET /studies/{seen.study.code} ")
    ]
    assert pages
    for page in pages:
        if "marzipan" in page:
            assert page.count("marzipan") == page.count("quillfeather") == 1
            assert page.index("marzipan") < page.index("quillfeather")


def _codes_of_the_sealed_world_stay_in(seen: Crawl, session: Session) -> None:
    """Raters see neither a study's name nor an item's own code; nobody sees a tag or a run's path."""
    items = session.scalars(select(Item.code).where(Item.study_id == seen.study.id)).all()
    leaves = session.scalars(select(ItemKey.leaf)).all()
    tags = session.scalars(select(Placement.unit_tag)).all()
    paths = session.scalars(select(Arm.run_path)).all()
    for sent in seen.sent:
        for_nobody = [
            *tags,
            *([] if "/study.toml" in sent.asked else paths),
            *([] if "export" in sent.asked else leaves),
        ]
        hidden = [*for_nobody, *([*items, seen.study.name] if sent.who != "administrator" else [])]
        assert not [code for code in hidden if code in sent.text], f"{sent.who}: {sent.asked}"


def _answers_say_nothing_by_their_form(seen: Crawl) -> None:
    lengths: dict[str, set[int]] = defaultdict(set)
    for sent in seen.sent:
        assert sent.status < 500, sent.asked
        if sent.who == "rater" and sent.status == 200:
            assert "content-encoding" not in sent.headers, f"{sent.asked} is compressed, so its length tells"
            assert "etag" not in sent.headers or "/static/" in sent.asked, f"{sent.asked} has an ETag"
            assert "server-timing" not in sent.headers
            if group := _form_of_page(sent):
                lengths[group].add(len(sent.body))
    assert len(lengths) > 4
    assert max(map(len, lengths.values())) == 1, lengths


def _form_of_page(sent: Sent) -> str:
    """Pages that differ in nothing but the item must have one length; empty for other pages."""
    if "/rate/wide/" in sent.asked and b"<mark" in sent.body:
        return "wide"
    for act in ("/practice/verdict", "/check/answer", "/guesses/guess"):
        if f'action="{act}"'.encode() in sent.body and sent.asked.startswith("GET "):
            return act
    if "/practice/wide/" in sent.asked and b"<mark" in sent.body:
        return "practice wide"
    if b'action="/rate/verdict"' not in sent.body or not sent.asked.startswith("GET "):
        return ""
    done = re.search(rb"<b>(\d+)</b>(.{5})", sent.body)
    assert done, sent.text
    digits = len(done[1]), len(str(int(done[1]) + 1))
    beside = b"/rate/undo" in sent.body, b"a rule</textarea>" in sent.body, b"NOT interp" in sent.body
    return f"{sent.asked} {digits} {done[2]!r} {beside}"


def _the_same_eyes_see_arms_once_it_is_unblinded(seen: Crawl, session: Session, settings: Settings) -> None:
    """Otherwise the search above would find nothing anywhere."""
    administrator = make_administrator(session, "Bob")
    unblind_study(session, settings, seen.study.code, administrator, typed_name=seen.study.name, reason="done")
    sign_in(seen.first, session, administrator)
    study = f"/studies/{seen.study.code}/exports"
    text = "".join(
        seen.ask(seen.first, "administrator", "GET", f"{study}/{name}.csv").text for name in ("arms", "items")
    )
    assert {name for name, pattern in traces().items() if pattern.search(text)} >= {"quillfeather", "marzipan", "gelu"}


def _every_route_was_asked(seen: Crawl) -> None:
    asked = {(sent.who, sent.asked.split()[0], sent.asked.split()[1]) for sent in seen.sent}
    for route in api_routes(seen.first):
        pattern = re.compile(re.sub(r"{\w+(?::\w+)?}", r"[^/ ]+", route.path) + r"(\?.*)?")
        for method in route.methods:
            who = {w for w, m, path in asked if m == method and pattern.fullmatch(path)}
            assert who, f"{method} {route.path} was never asked"
            assert "administrator" in who or method == "POST", f"{method} {route.path}"


# ---- labels exchanged, not a byte changed ---------------------------------------------------------


MASKS = (
    (re.compile(r"x-request-id: \S+"), "x-request-id: RANDOM"),
    (re.compile(r"/glance-runs-\w+/"), "/the folder of this test's runs/"),
    (re.compile(r"\b[0-9a-f]{8}(?:(?: [0-9a-f]{8})+|[0-9a-f]{56}|…[0-9a-f]{4})?"), "DIGEST"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00|Z)?"), "MOMENT"),
    (re.compile(r"\d{1,2} \w+ \d{4}, \d\d:\d\d"), "MOMENT"),
    (re.compile(r"\d{4}-\d\d-\d\d,? \d\d:\d\d(?::\d\d(?:\.\d+)?)?"), "MOMENT"),
    (re.compile(r"expires=[^;]+GMT"), "MOMENT"),
    (re.compile(r"content-length: \d+\ncontent-type: application/zip"), "an archive, of digests too"),
)
"""Digests of the labels and of the log, which say nothing, and times of the wall clock."""


def counted(numbers: Iterator[int]) -> Callable[..., str]:
    """Random codes come from a counter, so that two studies get the same ones."""
    return lambda _bytes=32: f"z{next(numbers):023d}"


def _masked(sent: Sent) -> tuple[str, str, str]:
    text = sent.text
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return sent.who, sent.asked, text


def test_the_same_study_with_its_labels_exchanged_is_the_same_bytes(
    client: TestClient, session: Session, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for runs in (phased_runs(), exchanged_runs(phased_runs())):
        monkeypatch.setattr(secrets, "token_urlsafe", counted(count(1)))
        monkeypatch.setattr(secrets, "token_hex", counted(count(1)))
        stopped_clock(monkeypatch)
        with session.begin_nested() as apart:
            study = make_study(session, settings, runs=runs, **DESIGN)
            told.append([_masked(sent) for sent in crawl(client, session, study).sent])
            apart.rollback()
        session.expunge_all()
        client.cookies.clear()
    assert len(told[0]) == len(told[1]) > 200
    for one, other in zip(*told, strict=True):
        assert one == other
