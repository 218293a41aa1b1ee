"""An administrator's way through a study, in a real browser."""

from itertools import product
from shutil import copytree

import pytest
from playwright.sync_api import Page, expect

from app.store.db import transaction
from tests.browser.conftest import Open, Site, join, serious
from tests.studies import PASSWORD, make_administrator, two_runs

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def _someone_to_manage(site: Site) -> None:
    with transaction(site.engine) as session:
        make_administrator(session)
    for run in two_runs():
        copytree(run, site.settings.runs_dir / run.name)


def sign_in(page: Page) -> None:
    page.goto("/sign-in")
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Studies").wait_for()


def test_a_study_from_its_form_to_its_report(page: Page) -> None:
    sign_in(page)
    page.get_by_role("link", name="New study").click()
    page.locator("[name=name]").fill("Spring study")
    for run in two_runs():
        page.get_by_role("checkbox", name=f"{run.name} {run.name}").check()
    page.locator("[name=neurons_per_arm]").fill("4")
    page.locator("[name=overlap]").fill("2")
    page.get_by_role("button", name="Draw and seal").click()
    expect(page.locator(".big")).to_contain_text("of 16 verdicts")
    page.get_by_label("Name").fill("Rater A")
    page.get_by_role("button", name="Make a link").click()
    assert "/join/" in page.get_by_label("The link").input_value()
    page.get_by_role("link", name="Back to the study").click()
    page.get_by_role("button", name="Close the study").click()
    page.get_by_role("link", name="Unblind the study").click()
    expect(page.locator(".list .not")).to_have_count(0)
    page.get_by_label("Reason").fill("a test has no raters")
    page.get_by_label("Type the name of the study").fill("Spring")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Unblind").click()
    expect(page.get_by_role("alert")).to_contain_text("You typed “Spring”")
    expect(page.get_by_label("Reason")).to_have_value("a test has no raters")
    page.get_by_label("Type the name of the study").fill("Spring study")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Unblind").click()
    page.get_by_role("link", name="Read the report").click()
    expect(page.locator("h1")).to_be_visible()
    assert page.url.endswith("/report")


def test_the_seal_is_copied(new_context: Open, site: Site) -> None:
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    sign_in(page)
    page.get_by_role("link", name="Winter study").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    shown = page.locator("code.digest").inner_text().replace(" ", "").strip()
    assert page.evaluate("navigator.clipboard.readText()") == shown
    assert len(shown) == 64


def test_everything_works_without_scripts(new_context: Open) -> None:
    page = new_context(java_script_enabled=False).new_page()
    sign_in(page)
    page.get_by_role("link", name="Winter study").click()
    expect(page.get_by_role("button", name="Copy")).to_be_hidden()
    page.get_by_role("button", name="Close the study").click()
    page.get_by_role("button", name="Open again").click()
    expect(page.locator(".head")).to_contain_text("Open")


def test_somebody_is_added_chooses_a_password_and_takes_a_place(page: Page, new_context: Open) -> None:
    sign_in(page)
    page.get_by_role("link", name="Administrators").click()
    page.get_by_label("Name").fill("Bob")
    page.get_by_role("button", name="Add").click()
    first = page.get_by_label("The password").input_value()
    bob = new_context().new_page()
    bob.goto("/sign-in")
    bob.get_by_label("Name").fill("Bob")
    bob.get_by_label("Password").fill(first)
    bob.keyboard.press("Enter")
    expect(bob.get_by_role("heading", name="Choose a password")).to_be_visible()
    bob.get_by_label("The password you have").fill(first)
    for field in ("The new one, at least 10 characters", "The new one again"):
        bob.get_by_label(field, exact=True).fill("a password of his own")
    bob.get_by_role("button", name="Change the password").click()
    expect(bob.get_by_role("link", name="Audit")).to_have_count(0)
    bob.get_by_role("link", name="Winter study").click()
    bob.get_by_role("link", name="Take a place").click()
    bob.get_by_label("I have read this and want to take part.").check()
    bob.get_by_role("button", name="Start").click()
    expect(bob.get_by_role("button", name="Begin")).to_be_visible()
    page.get_by_role("link", name="Audit").click()
    page.locator("[name=person]").select_option("Bob")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr")).to_have_count(4)  # added, signed in, password changed, link made
    page.locator("[name=act]").select_option("password changed")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr")).to_have_count(1)


@pytest.mark.parametrize(("theme", "width"), [*product(("light", "dark"), (1440, 390))])
def test_axe_finds_nothing_serious_and_nothing_overflows(site: Site, new_context: Open, theme: str, width: int) -> None:
    page = new_context(width, 900, color_scheme=theme, bypass_csp=True).new_page()
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        found[name] = serious(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"

    for path in ("/", "/sign-in"):
        page.goto(path)
        look(path)
    join(new_context().new_page(), site.link("Somebody with a rather long name"))
    sign_in(page)
    for path in ("/studies", "/studies/new", "/studies/drafts", "/power", "/administrators", "/audit", "/password"):
        page.goto(path)
        page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")
        look(path)
    page.goto("/administrators")
    page.get_by_role("link", name="Ada").click()
    page.wait_for_url("**/administrators/*")
    look("person")
    page.goto("/administrators")
    page.get_by_label("Name").fill("Bob")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Copy").wait_for()
    look("first password")
    page.goto("/studies")
    page.get_by_role("link", name="Winter study").click()
    page.wait_for_url("**/studies/*")
    look("study")
    address = page.url
    for path in ("plan", "open-item"):
        page.goto(f"{address}/{path}")
        look(path)
    page.goto(f"{address}/unblind")
    look("barred")
    page.goto(address)
    page.get_by_role("button", name="Close the study").click()
    expect(page.get_by_role("button", name="Close the study")).to_have_count(0)
    look("closed")
    page.goto(f"{address}/unblind")
    look("unblind")
    assert {name: problems for name, problems in found.items() if problems} == {}
