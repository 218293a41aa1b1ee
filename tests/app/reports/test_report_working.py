"""A report that takes long: a page that says how far it is, and the report once it is there."""

from collections.abc import Iterator
from concurrent.futures import wait
from threading import Event

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.reports import analysed, working
from app.reports.statistics import analysis
from app.settings import Settings
from tests.app.rated import Rated, rated_study
from tests.studies import sign_in


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"report_patience_seconds": 0.01})


@pytest.fixture
def rated(session: Session) -> Rated:
    return rated_study(session, seal_root="3f" * 32)  # no other test's numbers are kept under this seal


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """No analysis is made before the event."""
    go, analyse = Event(), analysis.analyse

    def slow(*given: object, **more: object) -> object:
        assert go.wait(60)
        return analyse(*given, **more)  # type: ignore[arg-type]

    analysed._kept.clear()
    monkeypatch.setattr(analysis, "analyse", slow)
    yield go
    go.set()


def finish() -> None:
    """Until nothing is at work any more."""
    for work in list(working._at_work.values()):
        assert work.is_done_within(60)


def test_a_page_says_how_far_it_is_and_leads_to_the_report(
    client: TestClient, session: Session, rated: Rated, held: Event
) -> None:
    sign_in(client, session)
    address = f"/studies/{rated.study.code}/report"
    page = client.get(address)
    assert (page.status_code, page.headers["retry-after"]) == (202, "1")
    assert 'aria-busy="true"' in page.text
    assert "of 3: " in page.text
    assert '<noscript><meta http-equiv="refresh"' in page.text
    asked = {"HX-Request": "true"}
    part = client.get(f"{address}?waiting=yes", headers=asked)
    assert (part.status_code, "<html" in part.text) == (202, False)
    held.set()
    finish()
    led = client.get(f"{address}?waiting=yes", headers=asked)
    assert led.headers["hx-redirect"] == address
    assert client.get(f"{address}?waiting=yes").headers["location"] == address
    there = client.get(address)
    assert there.status_code == 200
    assert 'id="fraction"' in there.text


def test_another_language_waits_for_its_drawings_only(
    client: TestClient, session: Session, rated: Rated, held: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.set()
    sign_in(client, session)
    address = f"/studies/{rated.study.code}/report"
    client.get(address)
    finish()
    monkeypatch.setattr(analysis, "analyse", None)  # it is not called again
    client.get(f"{address}?language=zh-Hans")
    finish()
    assert client.get(address, headers={"Accept-Language": "zh"}).status_code == 200


def test_what_goes_wrong_in_the_thread_is_raised_and_tried_again(
    client: TestClient, session: Session, rated: Rated, held: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyse = analysis.analyse

    def broken(*_given: object, **_more: object) -> object:
        assert held.wait(60)
        raise ArithmeticError("the numbers are off")

    monkeypatch.setattr(analysis, "analyse", broken)
    sign_in(client, session)
    address = f"/studies/{rated.study.code}/report"
    client.get(address)
    held.set()
    (work,) = (work for work in working._at_work.values() if not work.future.done() or work.future.exception())
    wait([work.future])
    with pytest.raises(ArithmeticError, match="the numbers are off"):
        client.get(address)
    monkeypatch.setattr(analysis, "analyse", analyse)
    client.get(address)
    finish()
    assert client.get(address).status_code == 200
