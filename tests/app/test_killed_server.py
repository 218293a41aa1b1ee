"""A server that dies in the middle of its work, as machines do."""

import re
import signal
import threading
import time
from pathlib import Path

import httpx2 as httpx
import pytest
from sqlalchemy import select

from app import clock
from app.log import first_broken_line
from app.models import Assignment, Event, Rating
from app.raters import actions
from app.store.db import open_engine, transaction
from tests.app.seated import faults, seated_study
from tests.app.served import server

RATERS = 6
FIELD = re.compile(r'name="(assignment|key)" value="([^"]+)"')


def rate_until_it_dies(address: str, link: str, acknowledged: list[tuple[str, str]]) -> None:
    """Rate as fast as the server answers; note what it has said it stored."""
    with httpx.Client(base_url=address, follow_redirects=True, timeout=60) as browser:
        try:
            browser.post(link, data={"consent": "yes"}).raise_for_status()
            page = browser.post("/rate/begin").raise_for_status()
            while form := dict(FIELD.findall(page.text)):
                page = browser.post("/rate/verdict", data=form | {"verdict": "INTERPRETABLE", "hypothesis": "it fires"})
                page.raise_for_status()
                acknowledged.append((form["assignment"], form["key"]))
        except httpx.TransportError:
            return


@pytest.mark.slow
def test_every_acknowledged_verdict_survives_kill_9(own_database_url: str, tmp_path: Path) -> None:
    engine = open_engine(own_database_url)
    with transaction(engine) as session:
        study = seated_study(session, items=4000, seats=RATERS)
        names = [f"Rater {number}" for number in range(RATERS)]
        links = [f"/join/{actions.invite(session, study, name, actor='Ada')}" for name in names]
    acknowledged: list[tuple[str, str]] = []
    with server(own_database_url, tmp_path) as (address, process):
        threads = [threading.Thread(target=rate_until_it_dies, args=(address, link, acknowledged)) for link in links]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 150
        while len(acknowledged) < 60 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join(60)
    assert len(acknowledged) >= 60
    with transaction(engine) as session:
        pairs = select(Assignment.code, Rating.idempotency_key).join(Rating, Rating.assignment_id == Assignment.id)
        stored = {(row.code, row.idempotency_key) for row in session.execute(pairs)}
        assert set(acknowledged) <= stored
        # What was stored and not yet answered when the server died: at most one a rater.
        assert len(stored) - len(acknowledged) <= RATERS
        assert faults(session, clock.now()) == []
        assert first_broken_line(session.scalars(select(Event).order_by(Event.line))) is None
    engine.dispose()
