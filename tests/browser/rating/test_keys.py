"""A rater's hands on the keys, in a real browser."""

import re
import time

import pytest
from playwright.sync_api import Page, Route, expect

from app.models import Verdict
from tests.browser.conftest import Site, join, ready
from tests.browser.rating.keys import number, press

pytestmark = pytest.mark.browser


def test_a_whole_study_by_keyboard(site: Site, page: Page) -> None:
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    join(page, site.link())
    expected = []
    for index in range(12):
        assert number(page) == index + 1
        assert page.locator(".snips li").count() == 20
        key, verdict = (("i", Verdict.INTERPRETABLE), ("n", Verdict.NOT_INTERPRETABLE), ("c", Verdict.CANNOT_DECIDE))[
            index % 3
        ]
        press(page, key)
        expected.append(verdict)
    expect(page.locator("h1")).to_have_text("That was the last one. Thank you.")
    expect(page.locator("dd code").first).to_have_text(re.compile(r"^[0-9a-f]{64}$"))
    assert [rating.verdict for rating in site.ratings()] == expected
    page.reload()
    expect(page.locator("h1")).to_have_text("That was the last one. Thank you.")
    assert errors == []


def test_keys_are_off_while_typing_with_modifiers_on_repeat_and_with_the_list_open(site: Site, page: Page) -> None:
    join(page, site.link())
    page.keyboard.press("e")
    page.keyboard.type("nine nice cups?")
    expect(page.get_by_role("textbox")).to_have_value("nine nice cups?")
    page.keyboard.press("Escape")
    for keys in ("Control+i", "Alt+n", "Meta+c"):
        page.keyboard.press(keys)
    page.evaluate(
        """() => {
          const fire = (options) => document.body.dispatchEvent(
            new KeyboardEvent("keydown", { key: "n", code: "KeyN", bubbles: true, ...options }));
          fire({ repeat: true });
          fire({ isComposing: true });
        }"""
    )
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("n")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_hidden()
    assert site.ratings() == []
    press(page, "n")
    assert [rating.hypothesis for rating in site.ratings()] == ["nine nice cups?"]


def test_a_key_held_down_and_a_double_click_are_one_verdict(site: Site, page: Page) -> None:
    join(page, site.link())
    page.keyboard.down("n")
    page.keyboard.down("n")
    page.keyboard.up("n")
    expect(page.locator(".pace b")).to_have_text("1")
    page.get_by_role("button", name="Interpretable", exact=False).first.dblclick()
    expect(page.locator(".pace b")).not_to_have_text("1")
    page.wait_for_timeout(300)
    codes = [rating.assignment_id for rating in site.ratings()]
    assert len(codes) == len(set(codes))


def test_keys_work_on_a_layout_without_latin_letters(site: Site, page: Page) -> None:
    join(page, site.link())
    page.evaluate(
        """() => document.body.dispatchEvent(
             new KeyboardEvent("keydown", { key: "т", code: "KeyN", bubbles: true }))"""
    )
    expect(page.locator(".pace b")).to_have_text("1")
    assert [rating.verdict for rating in site.ratings()] == [Verdict.NOT_INTERPRETABLE]


def test_the_pressed_button_is_dark_until_the_answer_is_in(site: Site, page: Page) -> None:
    join(page, site.link())
    held: list[Route] = []
    page.route("**/rate/verdict", lambda route: held.append(route))
    page.keyboard.press("n")
    expect(page.locator("#verdict .pressed")).to_have_text(re.compile("Not interpretable"))
    expect(page.locator("#verdict .pressed")).to_have_attribute("aria-busy", "true")
    deadline = time.monotonic() + 60  # a busy machine takes long to hand it on
    while not held and time.monotonic() < deadline:
        # Playwright hands the request in only while it waits for something.
        page.wait_for_timeout(20)
    held[0].continue_()
    expect(page.locator(".pace b")).to_have_text("1")
    expect(page.locator("#verdict .pressed")).to_have_count(0)


def test_focus_stays_on_the_button_for_hands_on_tab_and_leaves_it_for_the_mouse(site: Site, page: Page) -> None:
    join(page, site.link())
    page.locator("#verdict-n").focus()
    press(page, "Enter")
    assert page.evaluate("document.activeElement.id") == "verdict-n"
    page.locator("#verdict-c").click()
    expect(page.locator(".pace b")).to_have_text("2")
    assert page.evaluate("document.activeElement.tagName") == "BODY"


def test_own_keys(site: Site, page: Page) -> None:
    join(page, site.link())
    page.goto("/help")
    page.locator("#remap [name=n]").click()
    page.keyboard.press("y")
    page.locator("#remap [name=i]").click()
    page.keyboard.press("y")
    expect(page.locator("#remap [role=status]")).to_have_text("Another action has this key already.")
    page.goto("/rate")
    ready(page)
    expect(page.locator("#verdict-n kbd")).to_have_text("Y")
    page.keyboard.press("n")
    press(page, "y")
    assert [rating.verdict for rating in site.ratings()] == [Verdict.NOT_INTERPRETABLE]
