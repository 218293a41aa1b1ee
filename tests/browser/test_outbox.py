"""No connection, a failing server, an ended session, a second tab: nothing is lost and nothing is stored twice."""

import re
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import Page, Route, expect
from sqlalchemy import delete

from app.errors import Busy
from app.models import BrowserSession, Verdict
from app.store import sqlite
from app.store.db import transaction
from tests.browser.conftest import Open, Site, join, ready

pytestmark = pytest.mark.browser


def test_a_verdict_given_without_a_connection_is_sent_once_when_it_is_back(site: Site, page: Page) -> None:
    join(page, site.link())
    page.keyboard.press("e")
    page.keyboard.type("names of rivers")
    page.keyboard.press("Enter")
    page.context.set_offline(True)
    page.keyboard.press("i")
    expect(page.locator("#notices")).to_contain_text("No connection.")
    expect(page.locator("#verdict .pressed")).to_have_text(re.compile("Interpretable"))
    assert site.ratings() == []
    page.context.set_offline(False)
    expect(page.locator(".pace b")).to_have_text("1")
    page.wait_for_timeout(300)
    assert [(r.verdict, r.hypothesis) for r in site.ratings()] == [(Verdict.INTERPRETABLE, "names of rivers")]
    assert page.evaluate("Object.keys(localStorage).filter(name => name.startsWith('glance-outbox'))") == []


def test_a_verdict_survives_closing_the_page(site: Site, page: Page) -> None:
    join(page, site.link())
    page.context.set_offline(True)
    page.keyboard.press("n")
    expect(page.locator("#notices")).to_contain_text("No connection.")
    context = page.context
    page.close()
    context.set_offline(False)
    again = context.new_page()
    again.goto("/rate")
    expect(again.locator(".pace b")).to_have_text("1")
    assert [rating.verdict for rating in site.ratings()] == [Verdict.NOT_INTERPRETABLE]


def test_an_answer_that_was_lost_is_asked_for_again_and_stored_once(site: Site, page: Page) -> None:
    join(page, site.link())

    def store_and_lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/rate/verdict", store_and_lose, times=1)
    page.keyboard.press("c")
    expect(page.locator("#notices")).to_contain_text("No connection.")
    page.get_by_role("button", name="Send again").click()
    expect(page.locator(".pace b")).to_have_text("1")
    assert [rating.verdict for rating in site.ratings()] == [Verdict.CANNOT_DECIDE]


def test_a_failing_server_keeps_the_page_the_words_and_the_verdict(site: Site, page: Page) -> None:
    join(page, site.link())
    page.keyboard.press("e")
    page.keyboard.type("a long thought")
    page.keyboard.press("Enter")
    page.route("**/rate/verdict", lambda route: route.fulfill(status=500, body="Internal Server Error"), times=1)
    page.keyboard.press("n")
    expect(page.locator("#notices")).to_contain_text("The verdict was not stored.")
    expect(page.get_by_role("textbox")).to_have_value("a long thought")
    assert site.ratings() == []
    page.get_by_role("button", name="Send again").click()
    expect(page.locator(".pace b")).to_have_text("1")
    assert [rating.hypothesis for rating in site.ratings()] == ["a long thought"]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 200)
    monkeypatch.setattr(Busy, "retry_after_seconds", 1)


def test_a_verdict_waits_here_while_another_program_holds_the_database(impatient: None, site: Site, page: Page) -> None:
    join(page, site.link())
    page.keyboard.press("e")
    page.keyboard.type("held up")
    page.keyboard.press("Enter")
    with closing(sqlite3.connect(site.engine.url.database or "", isolation_level=None)) as other:
        other.execute("begin immediate")
        page.keyboard.press("i")
        expect(page.locator("#notices")).to_contain_text("The server is busy.")
        expect(page.get_by_role("textbox")).to_have_value("held up")
        other.execute("rollback")
    expect(page.locator(".pace b")).to_have_text("1")
    assert [(r.verdict, r.hypothesis) for r in site.ratings()] == [(Verdict.INTERPRETABLE, "held up")]
    assert page.evaluate("Object.keys(localStorage).filter(name => name.startsWith('glance-outbox'))") == []


def test_a_session_that_ended_while_writing_loses_nothing(site: Site, page: Page) -> None:
    link = site.link()
    join(page, link)
    with transaction(site.engine) as session:
        session.execute(delete(BrowserSession))
    page.keyboard.press("e")
    page.keyboard.type("written while signed out")
    page.keyboard.press("Enter")
    page.keyboard.press("i")
    expect(page.locator("#notices")).to_contain_text("Your session has ended.")
    expect(page.get_by_role("textbox")).to_have_value("written while signed out")
    page.goto(link)
    page.locator("form.start button").click()
    expect(page.locator(".pace b")).to_have_text("1")
    assert [(r.verdict, r.hypothesis) for r in site.ratings()] == [(Verdict.INTERPRETABLE, "written while signed out")]


def test_a_draft_written_without_a_connection_is_there_after_a_reload(site: Site, page: Page) -> None:
    join(page, site.link())
    page.route("**/rate/draft", lambda route: route.abort())
    page.keyboard.press("e")
    page.keyboard.type("offline thought")
    page.wait_for_timeout(1000)
    page.reload()
    expect(page.get_by_role("textbox")).to_have_value("offline thought")


@pytest.mark.parametrize("site", [2], indirect=True)
def test_on_a_shared_browser_nobody_sends_anothers_verdict(site: Site, new_context: Open) -> None:
    context = new_context()
    page = context.new_page()
    link = site.link("Bo")
    join(page, link)
    # Of this page alone, and for good: a connection that came back while the page lives might rightly send its own.
    page.route("**/rate/verdict", lambda route: route.abort())
    page.keyboard.press("i")
    expect(page.locator("#notices")).to_contain_text("No connection.")
    page.close()
    other = context.new_page()
    join(other, site.link("Kim"))
    other.wait_for_timeout(500)
    assert site.ratings() == []
    kept = "() => Object.keys(localStorage).filter(key => key.startsWith('glance-outbox-')).length"
    assert other.evaluate(kept) == 1, "it waits for its own rater"
    back = context.new_page()
    back.goto(link)
    back.locator("form.start button").click()
    expect(back.locator(".pace b")).to_have_text("1")
    assert [rating.verdict for rating in site.ratings()] == [Verdict.INTERPRETABLE]
    assert back.evaluate(kept) == 0


def test_a_second_tab_is_told_and_led_to_the_current_neuron(site: Site, page: Page) -> None:
    join(page, site.link())
    old = page.context.new_page()
    old.goto("/rate")
    ready(old)
    page.keyboard.press("n")
    expect(page.locator(".pace b")).to_have_text("1")
    old.keyboard.press("i")
    expect(old.locator("#notices")).to_contain_text("This neuron already has your verdict: not interpretable.")
    assert old.locator(".snips").inner_text() == page.locator(".snips").inner_text()
    expect(old.locator(".pace b")).to_have_text("1")
    assert [rating.verdict for rating in site.ratings()] == [Verdict.NOT_INTERPRETABLE]
    old.keyboard.press("i")
    expect(old.locator(".pace b")).to_have_text("2")


def test_an_undo_that_fails_says_so(site: Site, page: Page) -> None:
    join(page, site.link())
    page.keyboard.press("n")
    expect(page.locator(".pace b")).to_have_text("1")
    page.context.set_offline(True)
    page.keyboard.press("u")
    expect(page.locator("#notices")).to_contain_text("That did not work, and nothing was changed.")
    page.context.set_offline(False)
    page.keyboard.press("u")
    expect(page.locator(".pace b")).to_have_text("0")
