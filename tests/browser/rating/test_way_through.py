"""Back, undo, another browser, no scripts, a broken page, a change afterwards: no verdict is lost on the way."""

import re

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import update

from app.models import Assignment, Rater, RatingAction, Verdict
from app.store.db import transaction
from tests.browser.conftest import Open, Site, join, ready
from tests.browser.rating.keys import number, press

pytestmark = pytest.mark.browser


def test_closing_the_browser_resumes_at_the_same_neuron(site: Site, new_context: Open) -> None:
    link = site.link()
    first = new_context()
    page = first.new_page()
    join(page, link)
    press(page, "i")
    text = page.locator(".snips").inner_text()
    first.close()
    again = new_context().new_page()
    again.goto(link)
    expect(again.locator("h1")).to_have_text("Welcome back")
    again.locator("form.start button").click()
    if again.locator("#rate").get_attribute("data-state") == "begin":
        again.locator("form.start button").click()
    assert number(again) == 2
    assert again.locator(".snips").inner_text() == text


def test_back_leads_to_the_current_neuron_on_a_whole_page(site: Site, page: Page) -> None:
    join(page, site.link())
    press(page, "i")
    press(page, "n")
    page.goto("/help")
    page.go_back()
    expect(page.locator("#rate[data-state=item]")).to_be_visible()
    expect(page.locator("header").first).to_be_visible()
    assert number(page) == 3
    page.go_back()  # before the first neuron; and forward again
    page.go_forward()
    expect(page.locator("#rate[data-state=item]")).to_be_visible()
    ready(page)
    assert number(page) == 3
    press(page, "c")
    assert [rating.verdict for rating in site.ratings()] == [
        Verdict.INTERPRETABLE, Verdict.NOT_INTERPRETABLE, Verdict.CANNOT_DECIDE,
    ]  # fmt: skip


def test_undo_brings_the_last_neuron_and_its_words_back(site: Site, page: Page) -> None:
    join(page, site.link())
    text = page.locator(".snips").inner_text()
    page.keyboard.press("e")
    page.keyboard.type("names of boats")
    page.keyboard.press("Enter")
    press(page, "n")
    assert page.locator(".snips").inner_text() != text
    expect(page.locator(".last b")).to_have_text("Not interpretable")
    press(page, "u")
    assert page.locator(".snips").inner_text() == text
    expect(page.get_by_role("textbox")).to_have_value("names of boats")
    press(page, "i")
    actions = [(rating.action, rating.verdict, rating.hypothesis) for rating in site.ratings()]
    assert actions == [
        (RatingAction.GIVEN, Verdict.NOT_INTERPRETABLE, "names of boats"),
        (RatingAction.WITHDRAWN, None, ""),
        (RatingAction.GIVEN, Verdict.INTERPRETABLE, "names of boats"),
    ]


def test_a_draft_is_kept_on_the_server_and_restored_in_another_browser(site: Site, new_context: Open) -> None:
    link = site.link()
    page = new_context().new_page()
    join(page, link)
    page.keyboard.press("e")
    with page.expect_response("**/rate/draft"):
        page.keyboard.type("half a thought, with <tags> & “quotes”")
    other = new_context().new_page()
    other.goto(link)
    other.locator("form.start button").click()
    if other.locator("#rate").get_attribute("data-state") == "begin":
        other.locator("form.start button").click()
    expect(other.get_by_role("textbox")).to_have_value("half a thought, with <tags> & “quotes”")


def test_without_scripts(site: Site, new_context: Open) -> None:
    page = new_context(java_script_enabled=False).new_page()
    join(page, site.link(), scripts=False)
    page.get_by_role("link", name="Wider text").click()
    assert page.url.endswith("/rate?wide=1")
    page.locator("[name=hypothesis]").fill("a rule\nin two lines")
    page.get_by_text("Line up").click()
    page.locator("#verdict-n").click()
    assert page.url.endswith("/rate")
    assert page.locator(".last b").text_content() == "Not interpretable"
    page.locator("#w3").check()
    page.locator("#verdict-i").click()
    page.locator("#undo-u").click()
    assert number(page) == 2
    ratings = site.ratings()
    assert [(r.verdict, r.widened, r.lined_up) for r in ratings] == [
        (Verdict.NOT_INTERPRETABLE, True, True),
        (Verdict.INTERPRETABLE, True, False),
        (None, False, False),
    ]
    assert ratings[0].hypothesis == "a rule\nin two lines"


def test_a_broken_page_can_be_given_back(site: Site, page: Page) -> None:
    join(page, site.link())
    text = page.locator(".snips").inner_text()
    page.keyboard.press("?")
    page.get_by_role("button", name="This page is broken").click()
    page.wait_for_function("text => document.querySelector('.snips').innerText !== text", arg=text)
    assert site.ratings() == []


def test_a_verdict_changed_afterwards_keeps_both(site: Site, page: Page) -> None:
    join(page, site.link())
    press(page, "n")
    page.goto("/rate/given")
    page.get_by_role("link", name="Look again at neuron 1").click()
    assert page.locator(".snips li").count() == 20
    page.get_by_role("button", name="Cannot decide").click()
    expect(page.get_by_role("row", name=re.compile("Cannot decide changed"))).to_be_visible()
    assert [(r.action, r.verdict) for r in site.ratings()] == [
        (RatingAction.GIVEN, Verdict.NOT_INTERPRETABLE),
        (RatingAction.EDITED, Verdict.CANNOT_DECIDE),
    ]


@pytest.mark.parametrize("site", [2], indirect=True)
def test_a_waiting_page_looks_by_itself(site: Site, new_context: Open) -> None:
    holder = new_context().new_page()
    join(holder, site.link("Bo"))
    page = new_context().new_page()
    page.clock.install()
    join(page, site.link("Kim"))
    with transaction(site.engine) as session:
        session.execute(update(Rater).values(share=None))
    for _ in range(11):
        press(page, "n")
    expect(page.locator("h1")).to_have_text("The last neurons are in other hands")
    with transaction(site.engine) as session:
        session.execute(update(Assignment).values(leased_until=Assignment.claimed_at))
    page.clock.run_for(31_000)
    page.get_by_role("button", name="Continue").click()
    assert page.locator(".snips li").count() == 20
