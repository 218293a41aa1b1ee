"""The report: refused before unblinding, for administrators alone, and safe to show and to keep."""

import re
import subprocess
import sys

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.models import Event, Rating, StudyState
from tests.app.rated import (
    Rated,
    blank_study,
    rated_study,
)
from tests.app.reports.test_report_numbers import text_of
from tests.studies import sign_in

ADDRESSES = ("report", "report.json", "report.html", "report/items", "report/figures/fraction.svg", "exports/arms.csv")
NASTY = "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("state", [StudyState.OPEN, StudyState.CLOSED])
def test_before_unblinding_a_sentence_says_why_not(
    htmx: TestClient, session: Session, state: StudyState, address: str
) -> None:
    rated = rated_study(session, state=state)
    sign_in(htmx, session)
    response = htmx.get(f"/studies/{rated.study.code}/{address}")
    assert response.status_code == 403
    assert "unblind" in response.text
    assert "gelu" not in response.text.lower()
    assert ("<html" in response.text) == ("HX-Request" not in htmx.headers)


@pytest.mark.parametrize("address", [*ADDRESSES, "exports", "exports/seal.json", "exports/everything.zip"])
def test_every_address_works_and_is_for_administrators_alone(
    htmx: TestClient, session: Session, rated: Rated, address: str
) -> None:
    assert htmx.get(f"/studies/{rated.study.code}/{address}").status_code == 401
    sign_in(htmx, session)
    response = htmx.get(f"/studies/{rated.study.code}/{address}")
    assert response.status_code == 200
    if response.headers["content-type"].startswith("text/html") and not address.endswith(".html"):
        assert ("<html" in response.text) == ("HX-Request" not in htmx.headers)


@pytest.mark.parametrize(
    "address",
    ["report", "report.json", "report/items", "report/items?page=3", "report/figures/secrets.svg",
     "report/figures/fraction.gif", "exports", "exports/ratings.xlsx", "exports/secrets.csv"],
)  # fmt: skip
def test_what_does_not_exist_is_not_found(htmx: TestClient, session: Session, rated: Rated, address: str) -> None:
    sign_in(htmx, session)
    assert htmx.get(f"/studies/nowhere/{address}").status_code == 404
    if "figures" in address or "?" in address or address.endswith(("xlsx", "secrets.csv")):
        assert htmx.get(f"/studies/{rated.study.code}/{address}").status_code == 404


def test_a_page_number_that_is_none_is_refused(htmx: TestClient, session: Session, rated: Rated) -> None:
    sign_in(htmx, session)
    assert htmx.get(f"/studies/{rated.study.code}/report/items?page=0").status_code == 422


def test_text_of_people_is_shown_as_text(client: TestClient, session: Session) -> None:
    rated = rated_study(
        session, name=f'Ünïcödé 研究 / "x" {NASTY}', sources=[{"name": NASTY, "licence": NASTY, "parts": []}]
    )
    rated.study.unblinding_reason = NASTY
    for event in session.query(Event).filter_by(study_id=rated.study.id):
        event.actor = NASTY
    session.query(Rating).update({"hypothesis": NASTY})
    session.flush()
    sign_in(client, session)
    for address in ("report", "report.html", "report/items", "exports"):
        page = client.get(f"/studies/{rated.study.code}/{address}").text
        assert "<img" not in page
        assert "&lt;img" in page


def test_the_page_obeys_the_content_security_policy(client: TestClient, session: Session, rated: Rated) -> None:
    sign_in(client, session)
    for address in ("report", "report/items", "exports"):
        page = client.get(f"/studies/{rated.study.code}/{address}").text
        assert not re.search(r"<[^>]*\sstyle\s*=", page)
        assert not re.search(r"<style|<script(?![^>]*\ssrc=)|\son[a-z]+\s*=", page)


def test_ids_of_the_page_are_unique(client: TestClient, session: Session, rated: Rated) -> None:
    sign_in(client, session)
    for address in ("report", "report/items"):
        ids = re.findall(r'\sid=["\']?([^"\'\s>]+)', client.get(f"/studies/{rated.study.code}/{address}").text)
        assert len(ids) == len(set(ids))


def test_the_file_needs_no_network(client: TestClient, session: Session, rated: Rated) -> None:
    sign_in(client, session)
    response = client.get(f"/studies/{rated.study.code}/report.html")
    html = response.text
    assert "filename*=UTF-8''Winter%20report.html" in response.headers["content-disposition"]
    assert not re.search(r'(?:src|href)="(?!#)', html.replace('href="https://', 'href="!'))
    assert "@import" not in html
    assert "url(http" not in html
    assert "<script" not in html
    page = text_of(client.get(f"/studies/{rated.study.code}/report").text)
    lead = re.search(r"called.*?interpretable: a difference of .*? points", page)
    assert lead is not None
    assert lead[0] in text_of(html)


def test_the_appendix_shows_every_item_with_what_was_said(client: TestClient, session: Session) -> None:
    rated = rated_study(session, ["INNCINNC", "IIINIIIN"])
    sign_in(client, session)
    first, second = (
        text_of(client.get(f"/studies/{rated.study.code}/report/items?page={page}").text) for page in (1, 2)
    )
    assert first.count("Rater A") + second.count("Rater A") == 8
    assert first.count("layer") == 10 + first.count("by arm, layer")
    assert "1 / 2" in first
    assert "GELU 3.1" in first.replace("\xa0", " ")
    assert "peak" in second


def test_a_downloads_name_survives_any_study_name(client: TestClient, session: Session) -> None:
    rated = rated_study(session, name='Ünïcödé 研究 / "x"')
    sign_in(client, session)
    for address in ("exports/ratings.csv", "report.json", "exports/everything.zip", "report/figures/raters.svg"):
        header = client.get(f"/studies/{rated.study.code}/{address}").headers["content-disposition"]
        assert "filename*=UTF-8''%C3%9Cn%C3%AFc%C3%B6d%C3%A9%20%E7%A0%94%E7%A9%B6" in header


def test_an_empty_download_carries_a_warning(client: TestClient, session: Session) -> None:
    study = blank_study(session, state=StudyState.CLOSED)
    sign_in(client, session)
    response = client.get(f"/studies/{study.code}/exports/ratings.csv")
    assert "no rows" in response.headers["x-warning"]
    assert response.headers["content-type"] == "text/csv; charset=utf-8"


def test_pages_of_raters_load_none_of_the_statistics() -> None:
    heavy = "{'pandas', 'scipy', 'statsmodels', 'altair', 'vl_convert', 'pyarrow', 'torch', 'alembic'}"
    code = f"import sys, app.main; loaded = {heavy} & set(sys.modules); assert not loaded, loaded"
    subprocess.run([sys.executable, "-c", code], check=True)
