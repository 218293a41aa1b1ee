"""Behind a real nginx and under a prefix, with two workers: every address stays where it is, every verdict is kept."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from sqlalchemy import select

from app.clock import now
from app.models import Rating
from app.raters import actions
from app.settings import Settings
from app.store.db import open_engine, transaction
from tests.app.seated import faults
from tests.app.served import free_port, server, wait_for
from tests.studies import PASSWORD, make_administrator, make_study

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
ADDRESS = re.compile(r'(?:href|src|action|hx-post|hx-get|data-path)="([^"#?]+)')
FORM = re.compile(r'name="(assignment|key)" value="([^"]+)"')
CONFIGURATION = """
daemon off; pid {folder}/pid; error_log {folder}/errors; worker_processes 1; {user}
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location /glance/ {{
      proxy_pass {behind};
      proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Prefix /glance;
    }}
    location / {{ return 418; }}
  }}
}}
"""


@contextmanager
def nginx(address: str, folder: Path, *, strips: bool) -> Iterator[str]:
    """A proxy that serves the application under /glance, and answers 418 everywhere else."""
    folder.mkdir()
    port = free_port()
    user = "user root;" if Path("/proc/self").owner() == "root" else ""
    text = CONFIGURATION.format(folder=folder, port=port, user=user, behind=f"{address}/" if strips else address)
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    process = subprocess.Popen(
        [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors")]
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def insist_on_prefix(page: httpx.Response) -> httpx.Response:
    """Every address of a page, and of the redirects that led to it, lies under the prefix."""
    assert page.status_code == 200, (page.url, page.status_code)
    for step in [*page.history, page]:
        assert urlsplit(str(step.url)).path.startswith("/glance/"), step.url
    elsewhere = [path for path in ADDRESS.findall(page.text) if not path.startswith("/glance/")]
    assert elsewhere == [], page.url
    return page


@pytest.mark.slow
@pytest.mark.parametrize("strips", [True, False], ids=["stripping", "not-stripping"])
def test_a_whole_study_under_a_prefix_with_two_workers(own_database_url: str, tmp_path: Path, *, strips: bool) -> None:
    engine = open_engine(own_database_url)
    with transaction(engine) as session:
        settings = Settings(database_url=own_database_url, key_file=tmp_path / "key", _env_file=None)
        study = make_study(session, settings, seats=1)
        make_administrator(session)
        link = f"/glance/join/{actions.invite(session, study, 'Bo', actor='Ada')}"
        code = study.code
    with (
        server(own_database_url, tmp_path, workers=2, GLANCE_ROOT_PATH="/glance") as (behind, _),
        nginx(behind, tmp_path / "nginx", strips=strips) as address,
    ):
        given = _rate_all(address, link)
        _administer(address, code)
    with transaction(engine) as session:
        assert session.scalars(select(Rating.idempotency_key).order_by(Rating.id)).all() == given
        assert faults(session, now()) == []
    engine.dispose()


def _rate_all(address: str, link: str) -> list[str]:
    """One rater from the link to the thank-you page; the keys of the verdicts that were acknowledged."""
    given = []
    with httpx.Client(base_url=address, follow_redirects=True, timeout=60) as browser:
        insist_on_prefix(browser.get(link))
        insist_on_prefix(browser.post(link, data={"consent": "yes"}))
        page = insist_on_prefix(browser.post("/glance/rate/begin"))
        for path in set(ADDRESS.findall(page.text)):
            if path.startswith("/glance/static/"):
                assert browser.get(path).status_code == 200, path
        while 'action="/glance/rate/verdict"' in page.text:
            form = dict(FORM.findall(page.text)[:2])  # the first form is the verdict's
            verdict = {"verdict": "INTERPRETABLE", "hypothesis": ""}
            page = insist_on_prefix(browser.post("/glance/rate/verdict", data=form | verdict))
            given.append(form["key"])
        insist_on_prefix(browser.get("/glance/rate/given"))
        insist_on_prefix(browser.get("/glance/help"))
    return given


def _administer(address: str, code: str) -> None:
    with httpx.Client(base_url=address, follow_redirects=True, timeout=60) as browser:
        page = browser.post("/glance/sign-in", data={"name": "Ada", "password": PASSWORD})
        insist_on_prefix(page)
        page = insist_on_prefix(browser.get(f"/glance/studies/{code}"))
        for path in sorted(set(re.findall(r'<a [^>]*href="([^"#?]+)', page.text))):
            assert browser.get(path).status_code == 200, path
