"""What whoever runs the server looks at: health, readiness, log, metrics, bounds."""

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.main import create_app
from app.operations import bodies
from app.operations.access_log import FAILURES, REQUESTS, write_lines
from app.settings import Settings
from tests.studies import make_study, open_rater

TOKEN = "a token that nobody guesses"
WITH_TOKEN = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, "glance.requests"):
        yield caplog


def test_a_server_says_that_it_is_alive_and_ready(client: TestClient) -> None:
    assert client.get("/health").text == "alive\n"
    assert client.get("/ready").text == "ready\n"


def test_a_server_without_its_tables_is_not_ready(settings: Settings, tmp_path: Path) -> None:
    empty = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/empty.db"})
    with TestClient(create_app(empty)) as client:
        answer = client.get("/ready")
        assert (answer.status_code, "glance migrate" in answer.text) == (503, True)
        assert client.get("/health").status_code == 200


def test_a_server_without_a_database_says_so_without_its_address(settings: Settings) -> None:
    url = "postgresql+psycopg://somebody:hidden@127.0.0.1:1/none"
    with TestClient(create_app(settings.model_copy(update={"database_url": url}))) as client:
        answer = client.get("/ready")
    assert answer.status_code == 503
    assert "does not answer" in answer.text
    assert "hidden" not in answer.text


def test_metrics_are_shown_to_the_token_only(client: TestClient) -> None:
    settings = client.app.state.settings  # type: ignore[attr-defined]
    assert client.get("/metrics", headers=WITH_TOKEN).status_code == 404, "there is no token in the settings"
    client.app.state.settings = settings.model_copy(update={"metrics_token": TOKEN})  # type: ignore[attr-defined]
    for header in ({}, {"authorization": "Bearer "}, {"authorization": "Bearer another"}, {"authorization": TOKEN}):
        assert client.get("/metrics", headers=header).status_code == 404
    text = client.get("/metrics", headers=WITH_TOKEN).text
    assert 'glance_requests_total{method="GET",route="/metrics",status="404"} 5.0' in text
    assert "glance_studies_open 0.0" in text


def test_invented_methods_share_one_name_in_the_metrics(client: TestClient) -> None:
    settings = client.app.state.settings  # type: ignore[attr-defined]
    client.app.state.settings = settings.model_copy(update={"metrics_token": TOKEN})  # type: ignore[attr-defined]
    for invented in ("BREW", "get", "X" * 500):
        client.request(invented, "/health")
    text = client.get("/metrics", headers=WITH_TOKEN).text
    assert "BREW" not in text
    assert "XXX" not in text
    assert text.count('glance_requests_total{method="other"') == 1


def test_the_shortcut_to_a_verdict_is_a_route_like_others(client: TestClient, lines: pytest.LogCaptureFixture) -> None:
    assert client.post("/rate/verdict", data={"assignment": "?"}).status_code == 422
    assert client.get("/rate/verdict").status_code == 405
    whole = {"assignment": "a", "verdict": "INTERPRETABLE", "key": "k" * 8}
    assert client.post("/rate/verdict", data=whole).status_code == 401
    assert client.post("/rate/verdict", data=whole, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    said = [json.loads(record.message) for record in lines.records if record.name == "glance.requests"]
    assert [one["route"] for one in said] == ["/rate/verdict"] * 3 + ["none"]


def test_metrics_name_routes_and_never_addresses(
    client: TestClient, session: Session, settings: Settings, tmp_path: Path
) -> None:
    study = make_study(session, settings, tmp_path)
    client.app.state.settings = settings.model_copy(update={"metrics_token": TOKEN})  # type: ignore[attr-defined]
    open_rater(client, session, study)
    client.get("/rate")
    client.get("/invented/by/somebody")
    text = client.get("/metrics", headers=WITH_TOKEN).text
    assert 'route="/rate"' in text
    assert 'route="none",status="404"' in text
    assert "invented" not in text
    assert study.code not in text
    assert "glance_studies_open 1.0" in text


def test_a_line_for_each_request_holds_its_name_and_nobody_elses(
    client: TestClient, session: Session, settings: Settings, tmp_path: Path, lines: pytest.LogCaptureFixture
) -> None:
    study = make_study(session, settings, tmp_path)
    open_rater(client, session, study)
    answer = client.get("/rate")
    said = [json.loads(record.getMessage()) for record in lines.records if record.name == "glance.requests"]
    assert set(said[-1]) == {"time", "request", "method", "route", "status", "seconds"}
    assert said[-1]["request"] == answer.headers["x-request-id"]
    assert (said[-1]["route"], said[-1]["status"]) == ("/rate", 200)
    joined = [one["route"] for one in said if one["route"].startswith("/join")]
    assert set(joined) == {"/join/{token}"}, "a link lets in whoever has it"
    assert len({one["request"] for one in said}) == len(said)


def test_a_fault_of_ours_has_a_name_and_no_details(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_engine: object) -> None:
        raise RuntimeError("a secret stood here")

    monkeypatch.setattr("app.operations.queries.unready", broken)
    with TestClient(client.app, raise_server_exceptions=False) as browser:
        answer = browser.get("/ready")
    name = answer.headers["x-request-id"]
    assert answer.status_code == 500
    assert name in answer.text
    assert "secret" not in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    failed = [json.loads(record.getMessage()) for record in caplog.records if record.name == "glance.failures"]
    assert [(one["request"], one["failed"]) for one in failed] == [(name, "RuntimeError")]
    assert "secret" not in json.dumps(failed)


def test_lines_are_written_once_however_often_it_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        write_lines()
        write_lines()
        assert (len(REQUESTS.handlers), len(FAILURES.handlers)) == (1, 1)
    finally:
        for logger in (REQUESTS, FAILURES):
            logger.handlers.clear()
            logger.propagate = True


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_larger_than_any_form_is_refused_in_a_sentence(client: TestClient, declared: bool) -> None:
    large = b"name=" + b"a" * bodies.MOST_BYTES
    pieces = large if declared else iter([large[:1000], large[1000:]])
    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = client.post("/sign-in", content=pieces, headers=form)
    assert answer.status_code == 413
    assert "larger than any form" in answer.text


def test_browsers_are_told_to_stay_with_https_when_asked(settings: Settings) -> None:
    for seconds, expected in ((0, None), (31536000, "max-age=31536000")):
        with TestClient(create_app(settings.model_copy(update={"hsts_seconds": seconds}))) as client:
            assert client.get("/health").headers.get("strict-transport-security") == expected


def test_a_token_that_can_be_guessed_is_refused() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "app.cli", "serve"], env=os.environ | {"GLANCE_METRICS_TOKEN": "short"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert said.returncode == 2
    assert re.search(r"GLANCE_METRICS_TOKEN .* at least 16 characters", said.stderr)
