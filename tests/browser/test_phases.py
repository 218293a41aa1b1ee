"""Practice, check and guesses with hands on the keys, without scripts, and read by axe."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.store.db import open_engine, transaction
from app.store.migrate import upgrade
from tests.browser.conftest import Open, Site, go_on, serious, serve, settings_of
from tests.browser.test_layout import HIDDEN_PEAKS
from tests.studies import PHASES, make_study, phased_runs

pytestmark = pytest.mark.browser
PARAGRAPHS = (
    """() => [...document.querySelectorAll('.held p')].map(p => [p.offsetTop, p.offsetHeight, p.scrollHeight])"""
)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A study with everything that raters can meet before and after rating."""
    settings = settings_of(tmp_path)
    upgrade(settings.database_url)
    engine = open_engine(settings.database_url)
    with transaction(engine) as session:
        make_study(session, settings, runs=phased_runs(), seats=3, **PHASES)
    server, thread, address = serve(settings)
    yield Site(address, engine, settings)
    server.should_exit = True
    thread.join(20)
    engine.dispose()


def enter(page: Page, link: str) -> None:
    page.goto(link)
    page.locator("[name=consent]").check()
    page.locator("form.start button").click()
    page.locator("#verdict-i").wait_for()


def practise(page: Page) -> None:
    for number in range(PHASES["practice_items"]):
        page.keyboard.press("i")
        page.locator(".lesson").wait_for()
        page.keyboard.press("Enter")
        if number + 1 < PHASES["practice_items"]:
            page.locator("#verdict-i").wait_for()
            said(page)
    page.wait_for_url("**/rate")


def rate(page: Page) -> None:
    page.locator("form.start button").click()
    for _ in range(4):
        page.locator("#verdict-i").wait_for()
        key = page.locator("#verdict [name=key]").input_value()
        page.keyboard.press("i")
        page.wait_for_function("key => document.querySelector('#verdict')?.elements.key?.value !== key", arg=key)
    page.locator("#rate[data-state=finished]").wait_for()


def said(page: Page) -> None:
    page.wait_for_function("() => document.querySelector('#said')?.textContent !== ''")


def test_the_whole_way_by_keys(site: Site, page: Page) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    enter(page, site.link())
    said(page)
    practise(page)
    rate(page)
    page.locator("form[action$='/next-part'] button").click()
    page.wait_for_url("**/check")
    while page.locator(".held").count():
        said(page)
        number = page.locator("#verdict [name=number]").input_value()
        page.keyboard.press("1")
        page.keyboard.press("0")
        assert page.locator(".held input:checked").count() == 2
        page.keyboard.press("1")
        assert page.locator(".held input:checked").count() == 1
        page.keyboard.press("Enter")
        page.wait_for_function("n => document.querySelector('#verdict')?.elements.number?.value !== n", arg=number)
    for number in ("1", "2", "3"):
        page.wait_for_function("n => document.querySelector('#verdict')?.elements.number?.value === n", arg=number)
        said(page)
        page.keyboard.press("0" if number == "2" else "1")
    page.wait_for_url("**/thanks")
    assert errors == []


def test_p_pauses_in_every_part_and_what_was_written_or_ticked_is_there_again(site: Site, page: Page) -> None:
    def pause_and_go_on() -> None:
        page.keyboard.press("p")
        expect(page.locator("#rate[data-state=resting]")).to_contain_text("as you wished")
        go_on(page)
        page.locator("#rate[data-state=item]").wait_for()
        said(page)

    enter(page, site.link())
    said(page)
    page.locator("[name=hypothesis]").fill("half a rule, with a p")
    page.keyboard.press("Escape")
    pause_and_go_on()
    expect(page.locator("[name=hypothesis]")).to_have_value("half a rule, with a p")
    practise(page)
    rate(page)
    page.locator("form[action$='/next-part'] button").click()
    page.wait_for_url("**/check")
    said(page)
    page.keyboard.press("2")
    pause_and_go_on()
    expect(page.locator(".held input:checked")).to_have_count(1)
    expect(page.locator(".held input[value='2']")).to_be_checked()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#verdict')?.elements.number?.value === '2'")
    expect(page.locator(".held input:checked")).to_have_count(0)
    page.locator("form[action$='/check/stop'] button").click()
    page.wait_for_url("**/guesses")
    said(page)
    pause_and_go_on()
    assert page.url.endswith("/guesses")


@pytest.mark.parametrize("width", [1440, 360])
def test_a_click_on_an_outlined_token_ticks_it_and_moves_no_text(site: Site, new_context: Open, width: int) -> None:
    page = new_context(width).new_page()
    enter(page, site.link())
    said(page)
    practise(page)
    rate(page)
    page.locator("form[action$='/next-part'] button").click()
    page.locator(".held").wait_for()
    before = page.evaluate(PARAGRAPHS)
    for mark in page.locator(".held mark").all():
        mark.scroll_into_view_if_needed()
        place = mark.bounding_box()
        assert place is not None
        page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    expect(page.locator(".held input:checked")).to_have_count(page.locator(".held input").count())
    assert page.evaluate(PARAGRAPHS) == before
    assert page.evaluate(HIDDEN_PEAKS) == 0


def test_the_whole_way_without_scripts(site: Site, new_context: Open) -> None:
    page = new_context(java_script_enabled=False).new_page()
    enter(page, site.link())
    for _ in range(PHASES["practice_items"]):
        page.locator("#verdict-n").click()
        page.locator("#next").click()
    page.locator("form.start button").click()
    for _ in range(4):
        page.locator("#verdict-i").click()
    page.locator("form[action$='/next-part'] button").click()
    page.locator("#pause").click()
    page.locator("form.start button").click()
    page.locator(".held input[value='2']").check()
    page.locator("#next").click()
    page.locator("form[action$='/check/stop'] button").click()
    for _ in range(PHASES["guesses"]):
        page.locator("[name=guess]").last.click()
    assert page.url.endswith("/thanks")


@pytest.mark.parametrize(("theme", "width"), [*product(("light", "dark"), (1440, 390))])
def test_axe_finds_nothing_serious(site: Site, new_context: Open, theme: str, width: int) -> None:
    page = new_context(width, 900, color_scheme=theme, bypass_csp=True).new_page()
    enter(page, site.link())
    said(page)
    found = {"practice": serious(page)}
    page.keyboard.press("i")
    page.locator(".lesson").wait_for()
    found["lesson"] = serious(page)
    page.locator("#pause").click()
    page.locator("#rate[data-state=resting]").wait_for()
    found["resting"] = serious(page)
    page.locator("form.start button").click()
    page.locator(".lesson").wait_for()
    said(page)
    page.keyboard.press("Enter")
    for _ in range(PHASES["practice_items"] - 1):
        page.locator("#verdict-i").click()
        page.locator("#next").click()
    page.wait_for_url("**/rate")
    rate(page)
    found["finished"] = serious(page)
    page.locator("form[action$='/next-part'] button").click()
    page.wait_for_url("**/check")
    page.keyboard.press("1")
    found["check"] = serious(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("form[action$='/check/stop'] button").click()
    page.wait_for_url("**/guesses")
    found["guesses"] = serious(page)
    for path in ("/help", "/withdraw"):
        page.goto(path)
        found[path] = serious(page)
    assert not {where: faults for where, faults in found.items() if faults}
