"""A real Chromium, a real server and a committed database, for what only they show."""

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright
from sqlalchemy import Engine, select

from app.main import create_app
from app.models import Assignment, Rating, Study
from app.raters.actions import invite
from app.settings import Settings
from app.store.db import open_engine, transaction
from app.store.migrate import upgrade
from tests.studies import make_study

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True)
class Site:
    """A served study."""

    address: str
    engine: Engine
    settings: Settings

    def link(self, name: str = "Bo") -> str:
        """A new rater's link."""
        with transaction(self.engine) as session:
            study = session.scalars(select(Study)).one()
            return f"{self.address}/join/{invite(session, study, name, actor='Ada')}"

    def ratings(self) -> list[Rating]:
        """Every version of every verdict, the oldest first."""
        with transaction(self.engine) as session:
            return list(session.scalars(select(Rating).order_by(Rating.id)))

    def assignments(self) -> list[Assignment]:
        with transaction(self.engine) as session:
            return list(session.scalars(select(Assignment).order_by(Assignment.position)))


def serve(settings: Settings) -> tuple[uvicorn.Server, threading.Thread, str]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(settings), log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.02)
    return server, thread, f"http://127.0.0.1:{listener.getsockname()[1]}"


@cache
def built(seats: int) -> Path:
    """A folder with the database and the key of a study of twelve neurons, made once and copied for each test."""
    folder = Path(mkdtemp(prefix="glance-site-"))
    settings = settings_of(folder)
    upgrade(settings.database_url)
    engine = open_engine(settings.database_url)
    with transaction(engine) as session:
        make_study(session, settings, seats=seats)
    engine.dispose()
    return folder


def settings_of(folder: Path) -> Settings:
    database_url = f"sqlite:///{folder / 'site.db'}"
    return Settings(database_url=database_url, key_file=folder / "key", runs_dir=folder / "runs", _env_file=None)


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A study of twelve neurons, for one rater unless the test asks for more seats."""
    settings = settings_of(Path(shutil.copytree(built(getattr(request, "param", 1)), tmp_path / "site")))
    engine = open_engine(settings.database_url)
    server, thread, address = serve(settings)
    yield Site(address, engine, settings)
    server.should_exit = True
    thread.join(20)
    engine.dispose()


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
    yield browser
    browser.close()


Open = Callable[..., BrowserContext]


@pytest.fixture
def new_context(browser: Browser, site: Site) -> Iterator[Open]:
    """A browser of its own, 1440 x 900 unless told otherwise."""
    opened: list[BrowserContext] = []

    def open_context(width: int = 1440, height: int = 900, **options: object) -> BrowserContext:
        options = {"locale": "en-GB", "viewport": {"width": width, "height": height}} | options
        context = browser.new_context(base_url=site.address, **options)
        context.set_default_timeout(10_000)
        opened.append(context)
        return context

    yield open_context
    for context in opened:
        context.close()


@pytest.fixture
def page(new_context: Open) -> Page:
    return new_context().new_page()


def join(page: Page, link: str, *, scripts: bool = True) -> None:
    """Through the welcome page to the first neuron."""
    page.goto(link)
    page.locator("[name=consent]").check()
    page.locator("form.start button").click()
    page.locator("form.start button").click()
    page.locator("#rate[data-state=item]").wait_for()
    if scripts:
        ready(page)


def go_on(page: Page) -> None:
    """Enter, once the browser has put the focus where the page asks for it: that is after the page has loaded."""
    expect(page.locator("[autofocus]")).to_be_focused()
    page.keyboard.press("Enter")


def broken_rules(page: Page) -> list[str]:
    """What axe finds, each with its impact and where: WCAG 2.2's size of targets too, which it must be asked for.

    The bar at the foot lies still meanwhile: what it covers on a phone is scrolled from under it.
    """
    page.wait_for_load_state()
    page.add_style_tag(content=".foot { position: static !important }")
    found = Axe().run(page, options={"rules": {"target-size": {"enabled": True}}}).response["violations"]
    return [f"{one['impact']}: {one['id']}: {[node['html'][:120] for node in one['nodes'][:3]]}" for one in found]


def serious(page: Page) -> list[str]:
    return [one for one in broken_rules(page) if one.startswith(("serious", "critical"))]


def ready(page: Page) -> None:
    """The scripts listen to keys. A function, for the pages' policy forbids to evaluate text again at each look."""
    page.wait_for_function("() => document.querySelector('#said').textContent !== ''")
