"""The report in a real browser: readable in both themes and widths, and as one file without a network."""

import random
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from app.clock import now
from app.models import BrowserSession, Study, Verdict
from app.store.db import transaction
from app.studies.actions import close_study, unblind_study
from app.web.security import ADMINISTRATOR_COOKIE, LIFETIME, new_token, token_hash
from tests.app.seated import Hand, join
from tests.browser.conftest import Open, Site, broken_rules
from tests.studies import make_administrator

pytestmark = pytest.mark.browser
FIRST = 60_000  # the first report of a process loads the statistics, which takes long on a busy machine


@pytest.fixture
def signed_in(site: Site, new_context: Open) -> tuple[str, Open]:
    """The address of an unblinded study, and browsers that are let in as its administrator."""
    token, chance = new_token(), random.Random(4)
    with transaction(site.engine) as session:
        study = session.scalars(select(Study)).one()
        hand = Hand(session, site.settings, join(session, study))
        hand.begin()
        while hand.page.state == "item":
            hand.give(chance.choice(list(Verdict)), "words after “the”")
        ada = make_administrator(session)
        close_study(session, study.code, ada)
        unblind_study(session, site.settings, study.code, ada, typed_name=study.name, reason="all is in")
        row = BrowserSession(token_hash=token_hash(token), administrator_id=ada.id, expires_at=now() + LIFETIME)
        session.add(row)

    def let_in(**options: object) -> "Open":
        context = new_context(**options)
        context.add_cookies([{"name": ADMINISTRATOR_COOKIE, "value": token, "url": site.address}])
        return context

    return f"/studies/{study.code}", let_in


@pytest.mark.slow
def test_report_pages_can_be_read_by_everybody(signed_in: tuple[str, Open]) -> None:
    base, let_in = signed_in
    for theme, width in product(("light", "dark"), (1440, 390)):
        page = let_in(width=width, color_scheme=theme, bypass_csp=True).new_page()
        for address in ("report", "exports", "report/items"):
            page.goto(f"{base}/{address}", timeout=FIRST)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert broken_rules(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_is_quiet_and_its_figures_are_drawn(signed_in: tuple[str, Open]) -> None:
    base, let_in = signed_in
    page = let_in().new_page()
    said = listen(page)
    page.goto(f"{base}/report", timeout=FIRST)
    expect(page.locator("figure .full svg")).to_have_count(page.locator("figure").count())
    assert page.locator("figure .full svg").first.bounding_box() is not None
    assert page.locator("figure .slim").first.is_hidden()
    assert said == []


def test_the_file_is_whole_without_a_network(signed_in: tuple[str, Open], tmp_path: Path) -> None:
    base, let_in = signed_in
    page = let_in().new_page()
    page.goto(f"{base}/report", timeout=FIRST)
    with page.expect_download() as download:
        page.get_by_role("link", name="One HTML file").click()
    path = tmp_path / "report.html"
    download.value.save_as(path)
    assert download.value.suggested_filename == "Winter study report.html"
    alone = let_in(offline=True).new_page()
    said, asked = listen(alone), []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(path.as_uri())
    expect(alone.get_by_role("heading", name="Winter study")).to_be_visible()
    assert (said, asked) == ([], [path.as_uri()])


def listen(page: Page) -> list[str]:
    """What the browser complains of, from now on."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    return said
