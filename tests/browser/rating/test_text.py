"""Wider text and lined-up text, kept with the verdict."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, join
from tests.browser.rating.keys import press

pytestmark = pytest.mark.browser


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
