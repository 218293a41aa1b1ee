"""Many pages asked for at once: requests that hold a connection and wait for a thread leave room for the others."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2 as httpx

from app.raters import actions
from app.store.db import OVERFLOW, THREADS, open_engine, transaction
from tests.app.seated import seated_study
from tests.app.served import server

AT_ONCE = 3 * (THREADS + OVERFLOW)


async def asked(address: str, link: str) -> set[int]:
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(base_url=address, timeout=25, limits=limits) as browser:  # a pool's patience is 30 s
        (await browser.post(link, data={"consent": "yes"}, follow_redirects=True)).raise_for_status()
        answers = await asyncio.gather(*(browser.get("/rate/given") for _ in range(AT_ONCE)))
        return {answer.status_code for answer in answers}


def test_more_readers_than_connections_are_all_answered(own_database_url: str, tmp_path: Path) -> None:
    engine = open_engine(own_database_url)
    with transaction(engine) as session:
        study = seated_study(session, items=10, seats=1)
        link = f"/join/{actions.invite(session, study, 'Ada', actor='Bo')}"
    engine.dispose()
    with server(own_database_url, tmp_path) as (address, _), ThreadPoolExecutor(1) as pool:
        assert pool.submit(asyncio.run, asked(address, link)).result() == {200}
