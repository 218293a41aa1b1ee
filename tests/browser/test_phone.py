"""An administrator's tables: on a phone a row is a block and nothing is a letter wide, elsewhere nothing is cut."""

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import update

from app.models import Study
from app.store.db import transaction
from tests.browser.conftest import Open, Site, join
from tests.browser.test_administration import sign_in
from tests.studies import make_administrator

pytestmark = pytest.mark.browser
LONG = "Everything that we could think of asking about neurons in spring"
NARROWEST = """() => Math.min(...[...document.querySelectorAll('main :is(td, dd)')]
  .filter(cell => cell.textContent.trim().length > 20).map(cell => cell.getBoundingClientRect().width))"""


@pytest.fixture
def phone(site: Site, new_context: Open) -> Page:
    with transaction(site.engine) as session:
        make_administrator(session)
        session.execute(update(Study).values(name=LONG))
    rater = new_context().new_page()
    join(rater, site.link("Somebody with a rather long name"))
    rater.keyboard.press("i")
    expect(rater.locator(".pace b")).to_have_text("1")
    return new_context(360, 740, locale="zh-CN").new_page()


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_tables_are_read_without_scrolling_sideways(phone: Page) -> None:
    phone.goto("/sign-in?language=en")
    sign_in(phone)
    phone.get_by_role("link", name=LONG).click()
    phone.wait_for_url("**/studies/*")
    address = phone.url
    for path in (
        "/studies?language=zh-Hans",
        address,
        f"{address}/exports",
        f"{address}/plan",
        "/administrators",
        "/audit",
    ):
        phone.goto(path)
        phone.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")
        assert fits(phone), path
        assert phone.evaluate("() => document.querySelectorAll('main td, main dd').length"), path
        assert phone.evaluate(NARROWEST) > 80, path
        for table in phone.locator("table.stack").all():
            assert table.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth"), path


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_managing_a_rater_hides_nothing(phone: Page, language: str) -> None:
    phone.set_viewport_size({"width": 1440, "height": 900})
    phone.goto("/sign-in?language=en")
    sign_in(phone)
    phone.get_by_role("link", name=LONG).click()
    phone.wait_for_url("**/studies/*")
    phone.goto(f"{phone.url}?language={language}")
    phone.locator(".manage summary").first.click()
    for table in phone.locator("table").all():
        assert table.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth")
