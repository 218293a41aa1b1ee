"""From the terms of a study to a rater who came from a panel and goes back to it, in a real browser."""

from itertools import product

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select, update

from app.models import Rater, Sitting, Study
from app.store.db import transaction
from tests.browser.conftest import Open, Site, go_on, ready, serious
from tests.browser.rating.keys import press
from tests.browser.test_administration import sign_in
from tests.studies import make_administrator

pytestmark = pytest.mark.browser
PERSON = "5f3c0a9b1e2d4c6a7b8e9f01"


def come(page: Page, link: str) -> None:
    page.goto(link)
    page.locator("[name=consent]").check()
    page.locator("form.start button").click()
    page.locator("form.start button").click()
    page.locator("#rate[data-state=item]").wait_for()
    ready(page)


def set_terms(site: Site, **terms: object) -> None:
    with transaction(site.engine) as session:
        session.scalars(select(Study)).one().terms = terms


def test_a_panel_sends_somebody_and_gets_them_back(site: Site, new_context: Open) -> None:
    with transaction(site.engine) as session:
        make_administrator(session)
    administrator = new_context().new_page()
    sign_in(administrator)
    administrator.get_by_role("link", name="Winter study").click()
    administrator.get_by_role("link", name="Terms for raters").click()
    administrator.get_by_label("A day’s goal").fill("60")
    administrator.get_by_label("Completion code").fill("C1AB2CD3")
    administrator.get_by_label("Way back to the panel").fill("https://elsewhere.example/")
    administrator.get_by_role("button", name="Set these terms").click()
    expect(administrator.get_by_role("alert")).to_contain_text("GLANCE_RETURN_HOSTS")
    administrator.get_by_label("Way back to the panel").fill("")
    administrator.get_by_role("button", name="Set these terms").click()
    administrator.get_by_label("Name").fill("Panel")
    administrator.get_by_label("For several raters").check()
    administrator.get_by_label("At most").fill("1")
    administrator.get_by_role("button", name="Make a link").click()
    address = administrator.get_by_label("For a panel of participants").input_value()
    rater = new_context().new_page()
    come(rater, address.replace("{{%PROLIFIC_PID%}}", PERSON).replace("{{%", "x").replace("%}}", "y"))
    expect(rater.locator(".pace")).to_contain_text("0 of 60 today")
    for _ in range(12):
        press(rater, "i")
    expect(rater.locator("code.big")).to_have_text("C1AB2CD3")
    again = new_context().new_page()
    again.goto(address.split("?")[0] + "?PROLIFIC_PID=" + PERSON)
    expect(again.locator("h1")).to_have_text("Welcome back")
    again.goto(address.split("?")[0] + "?PROLIFIC_PID=another")
    expect(again.locator("h1")).to_have_text("No place free just now")
    administrator.get_by_role("link", name="Back to the study").click()
    expect(administrator.locator("table.raters")).to_contain_text(PERSON)


@pytest.mark.parametrize(("theme", "width"), [*product(("light", "dark"), (1440, 390))])
def test_axe_finds_nothing_serious_in_the_raters_day(site: Site, new_context: Open, theme: str, width: int) -> None:
    page = new_context(width, 900, color_scheme=theme, bypass_csp=True).new_page()
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        found[name] = serious(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"

    come(page, site.link())
    press(page, "i")
    page.keyboard.press("p")
    expect(page.locator(".notice")).to_contain_text("Your session has ended")
    look("paused")
    page.goto("/rate/sessions")
    look("sessions")
    page.goto("/rate")
    go_on(page)
    page.locator("#rate[data-state=item]").wait_for()
    ready(page)
    with transaction(site.engine) as session:
        session.execute(update(Sitting).values(unrested_seconds=3000.0))
    page.keyboard.press("n")
    page.locator("#rate[data-state=break]").wait_for()
    look("break")
    set_terms(site, most_a_day=3)
    go_on(page)
    page.locator("#rate[data-state=item]").wait_for()
    ready(page)
    page.keyboard.press("n")
    page.locator("#rate[data-state=enough]").wait_for()
    look("enough")
    set_terms(site, completion_code="C1AB2CD3")
    with transaction(site.engine) as session:
        session.execute(update(Rater).values(share=3))
    page.goto("/rate")
    expect(page.locator("code.big")).to_be_visible()
    look("finished")
    with transaction(site.engine) as session:
        make_administrator(session)
    sign_in(page)
    page.get_by_role("link", name="Winter study").click()
    page.get_by_label("Name").fill("Panel")
    page.get_by_label("For several raters").check()
    page.get_by_role("button", name="Make a link").click()
    page.get_by_label("For a panel of participants").wait_for()
    look("invited")
    full = page.get_by_label("The link").input_value()
    page.get_by_role("link", name="Back to the study").click()
    page.get_by_role("link", name="Terms for raters").click()
    page.wait_for_url("**/terms")
    look("terms")
    page.context.clear_cookies()
    page.goto(full)
    expect(page.locator("h1")).to_have_text("No place free just now")
    look("full")
    assert {name: problems for name, problems in found.items() if problems} == {}
