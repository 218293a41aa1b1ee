"""The soft clock, breaks, pauses and the day."""

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import update

from app.models import Sitting
from app.store.db import transaction
from tests.browser.conftest import Open, Site, go_on, join, ready
from tests.browser.rating.keys import press

pytestmark = pytest.mark.browser


def test_the_clock_turns_after_one_and_two_minutes_and_stops_nothing(site: Site, page: Page) -> None:
    page.clock.install()
    join(page, site.link())
    bar = page.locator(".bar")
    expect(bar).to_have_attribute("data-minutes", "0")
    page.clock.run_for(50_000)
    expect(bar).to_have_attribute("data-minutes", "0")
    page.clock.run_for(16_000)
    expect(bar).to_have_attribute("data-minutes", "1")
    expect(page.get_by_text("over 1 minute")).to_be_visible()
    page.clock.run_for(60_000)
    expect(bar).to_have_attribute("data-minutes", "2")
    page.clock.run_for(3_600_000)
    press(page, "i")
    expect(bar).to_have_attribute("data-minutes", "0")
    assert len(site.ratings()) == 1


def test_the_clock_goes_on_after_a_reload(site: Site, page: Page) -> None:
    join(page, site.link())
    before = float(page.locator(".bar").get_attribute("data-seconds") or "")
    page.wait_for_timeout(1200)
    page.reload()
    assert float(page.locator(".bar").get_attribute("data-seconds") or "") >= before + 1


def test_the_break_goes_on_with_enter_and_is_offered_once(site: Site, page: Page) -> None:
    join(page, site.link())
    with transaction(site.engine) as session:
        session.execute(update(Sitting).values(unrested_seconds=3000.0))
    page.keyboard.press("i")
    expect(page.locator("h1")).to_have_text("50 minutes without a break")
    go_on(page)
    expect(page.locator("h1")).to_have_text("Neuron 2 of 12")
    ready(page)
    page.keyboard.press("i")
    expect(page.locator("h1")).to_have_text("Neuron 3 of 12")


def test_the_break_can_be_a_pause_by_the_same_key(site: Site, page: Page) -> None:
    join(page, site.link())
    with transaction(site.engine) as session:
        session.execute(update(Sitting).values(unrested_seconds=3000.0))
    page.keyboard.press("n")
    expect(page.locator("h1")).to_have_text("50 minutes without a break")
    page.keyboard.press("p")
    expect(page.locator("h1")).to_have_text("Go on where you left off")
    go_on(page)
    expect(page.locator("h1")).to_have_text("Neuron 2 of 12")


@pytest.mark.parametrize("by", ["key", "button"])
def test_pause_keeps_what_was_written_and_comes_back_to_the_same_neuron(site: Site, page: Page, by: str) -> None:
    join(page, site.link())
    text = page.locator(".snips").inner_text()
    page.keyboard.press("e")
    page.keyboard.type("pups")
    page.keyboard.press("Escape")
    if by == "key":
        page.keyboard.press("p")
    else:
        page.get_by_role("button", name="Pause").click()
    expect(page.locator(".notice")).to_contain_text("Your session has ended, as you wished.")
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    assert site.ratings() == []
    go_on(page)
    expect(page.get_by_role("textbox")).to_have_value("pups")
    assert page.locator(".snips").inner_text() == text


def test_pause_works_without_scripts(site: Site, new_context: Open) -> None:
    page = new_context(java_script_enabled=False).new_page()
    join(page, site.link(), scripts=False)
    page.get_by_role("textbox").fill("by hand")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".notice")).to_contain_text("Your session has ended, as you wished.")
    page.get_by_role("button", name="Continue").or_(page.get_by_role("button", name="Begin")).click()
    expect(page.get_by_role("textbox")).to_have_value("by hand")


def test_a_pause_that_does_not_reach_the_server_says_so(site: Site, page: Page) -> None:
    join(page, site.link())
    page.route("**/rate/pause", lambda route: route.abort())
    page.keyboard.press("p")
    expect(page.locator("#notices")).to_contain_text("That did not work, and nothing was changed.")
    expect(page.locator("h1")).to_have_text("Neuron 1 of 12")


def test_the_day_is_counted_on_the_raters_clock(site: Site, new_context: Open) -> None:
    page = new_context(timezone_id="Asia/Shanghai").new_page()
    join(page, site.link())
    press(page, "i")
    expect(page.locator(".pace")).to_contain_text("1 today")
    expect(page.locator(".pace [title]")).to_have_attribute("title", "Your day begins at 00:00, UTC+08:00.")
