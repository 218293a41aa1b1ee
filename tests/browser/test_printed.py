"""Pages on paper: A4 is about as narrow as what counts as a phone, and is none."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Site, join
from tests.browser.test_layout import HIDDEN_PEAKS

pytestmark = pytest.mark.browser

A4 = {"width": 688, "height": 1000}
"""Within the margins of the style sheet."""
FIGURES = """() => {
  document.querySelector('main').insertAdjacentHTML('beforeend', '<p class="full">wide</p><p class="slim">slim</p>');
  return ['.full', '.slim'].map(name => getComputedStyle(document.querySelector(name)).display);
}"""


def on_paper(page: Page) -> None:
    page.set_viewport_size(A4)  # type: ignore[arg-type]
    page.emulate_media(media="print")


def test_figures_are_the_wide_ones(site: Site, page: Page) -> None:
    page.goto("/help")
    on_paper(page)
    assert page.evaluate(FIGURES) == ["block", "none"]


def test_every_peak_is_printed(site: Site, page: Page) -> None:
    join(page, site.link())
    on_paper(page)
    assert page.locator(".snips mark").count() == 20
    assert page.evaluate(HIDDEN_PEAKS) == 0
