"""A rater's hands on the keys, in a real browser."""

import re
import time

import pytest
from playwright.sync_api import Page, Route, expect
from sqlalchemy import update

from app.db import transaction
from app.models import Assignment, Rater, RatingAction, Sitting, Verdict
from tests.browser.conftest import Open, Site, go_on, join, ready

pytestmark = pytest.mark.browser


def number(page: Page) -> int:
    """The how-manieth neuron is shown."""
    return int(re.findall(r"\d+", page.locator("h1").inner_text())[0])


def press(page: Page, key: str) -> None:
    """A verdict by key, and wait for what comes next."""
    before = page.locator("[name=key]").first.input_value()
    page.keyboard.press(key)
    page.wait_for_function(
        "key => !document.querySelector('#verdict') || document.querySelector('#verdict').elements.key.value !== key",
        arg=before,
    )


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


def test_widening_fetches_all_once_and_is_kept_with_the_verdict(site: Site, page: Page) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url) if "/rate/wide/" in request.url else None)
    join(page, site.link())
    assert requests == []
    page.keyboard.press("j")
    page.keyboard.press("j")
    with page.expect_response("**/rate/wide/*"):
        page.keyboard.press("w")
    expect(page.locator("#w2")).to_be_checked()
    expect(page.locator(".snips input:checked")).to_have_count(1)
    assert page.evaluate("document.activeElement.matches('li:nth-child(2) mark')")
    page.keyboard.press("w")
    expect(page.locator(".snips input:checked")).to_have_count(0)
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(700, 5)
    page.keyboard.press("w")
    expect(page.locator("#wide")).to_be_checked()
    assert len(requests) == 1
    press(page, "n")
    expect(page.locator("#wide")).not_to_be_checked()
    press(page, "n")
    assert [rating.widened for rating in site.ratings()] == [True, False]


def test_the_wider_text_holds_the_narrow_one(site: Site, page: Page) -> None:
    join(page, site.link())
    texts = "[...document.querySelectorAll('.snips p')].map(p => p.textContent)"
    narrow = page.evaluate(texts)
    with page.expect_response("**/rate/wide/*"):
        page.locator("#w1").check()
    page.wait_for_function(f"() => {texts}.join().length > {len(','.join(narrow))}")
    for short, long in zip(narrow, page.evaluate(texts), strict=True):
        assert short in long


def test_lining_up_puts_the_peaks_under_one_another_and_is_kept_with_the_verdict(site: Site, page: Page) -> None:
    join(page, site.link())
    page.keyboard.press("l")
    lefts = page.evaluate(
        "[...document.querySelectorAll('.snips mark')].map(m => Math.round(m.getBoundingClientRect().left))"
    )
    assert max(lefts) - min(lefts) <= 1
    heights = page.evaluate("[...document.querySelectorAll('.snips p')].map(p => p.getBoundingClientRect().height)")
    assert max(heights) < 30
    press(page, "c")
    page.keyboard.press("l")
    press(page, "c")
    page.keyboard.press("l")
    page.keyboard.press("l")
    press(page, "c")
    # The second was shown lined up at first, the third was lined up and folded back.
    assert [rating.lined_up for rating in site.ratings()] == [True, True, True]


def test_the_pressed_button_is_dark_until_the_answer_is_in(site: Site, page: Page) -> None:
    join(page, site.link())
    held: list[Route] = []
    page.route("**/rate/verdict", lambda route: held.append(route))
    page.keyboard.press("n")
    expect(page.locator("#verdict .pressed")).to_have_text(re.compile("Not interpretable"))
    expect(page.locator("#verdict .pressed")).to_have_attribute("aria-busy", "true")
    deadline = time.monotonic() + 10
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
