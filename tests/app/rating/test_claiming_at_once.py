"""Many raters at the same instant, on a database that really commits."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, func, select

from app import clock
from app.errors import Conflict
from app.log import first_broken_line
from app.models import Assignment, AssignmentState, Event, Rater, Rating, Verdict
from app.rating import actions
from app.rating.locked import lock_rater
from app.rating.queries import RatingPage, rating_page
from app.settings import Settings
from app.store.db import read_only, transaction
from tests.app.seated import faults, join, seated_study


def at_once(acts: list[Callable[[], object]]) -> list[object]:
    """Run them all in the same instant; what is refused with a sentence is an answer too."""
    barrier = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return act()
        except Conflict as refused:
            return refused

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def prepare(engine: Engine, *, raters: int, **study: int) -> list[int]:
    with transaction(engine) as session:
        made = seated_study(session, seats=raters, **study)
        return [join(session, made, f"Rater {number}").id for number in range(raters)]


def begin(engine: Engine, settings: Settings, rater_id: int) -> None:
    with transaction(engine) as session:
        actions.continue_sitting(session, settings, lock_rater(session, rater_id))


def look(engine: Engine, settings: Settings, rater_id: int) -> RatingPage:
    with transaction(read_only(engine)) as session:
        return rating_page(session, settings, session.get_one(Rater, rater_id))


def give(engine: Engine, settings: Settings, rater_id: int, code: str, key: str, verdict: Verdict) -> int:
    with transaction(engine) as session:
        return actions.submit(session, settings, lock_rater(session, rater_id), code, verdict, "", key).id


def rate_all(engine: Engine, settings: Settings, rater_id: int) -> int:
    """Rate until there is nothing to do; returns how many."""
    begin(engine, settings, rater_id)
    count = 0
    while (page := look(engine, settings, rater_id)).code is not None:
        give(engine, settings, rater_id, page.code, f"{rater_id} {count}", Verdict.CANNOT_DECIDE)
        count += 1
    return count


def check(engine: Engine, *, ratings: int) -> None:
    with transaction(engine) as session:
        assert faults(session, clock.now()) == []
        assert session.scalars(select(func.count()).select_from(Rating)).one() == ratings
        assert first_broken_line(session.scalars(select(Event).order_by(Event.line))) is None


def test_the_last_free_place_goes_to_exactly_one(own_engine: Engine, settings: Settings) -> None:
    raters = prepare(own_engine, raters=8, items=1)
    at_once([lambda rater=rater: begin(own_engine, settings, rater) for rater in raters])  # type: ignore[misc]
    states = sorted(look(own_engine, settings, rater).state for rater in raters)
    assert states == ["item"] + ["waiting"] * 7
    check(own_engine, ratings=0)


def test_a_place_released_in_time_goes_to_exactly_one_more(own_engine: Engine, settings: Settings) -> None:
    raters = prepare(own_engine, raters=8, items=1, capacity=2)
    at_once([lambda rater=rater: begin(own_engine, settings, rater) for rater in raters])  # type: ignore[misc]
    assert sorted(look(own_engine, settings, rater).state for rater in raters) == ["item"] * 2 + ["waiting"] * 6
    check(own_engine, ratings=0)


@pytest.mark.parametrize("verdicts", [[Verdict.INTERPRETABLE], [Verdict.INTERPRETABLE, Verdict.NOT_INTERPRETABLE]])
def test_a_double_click_gives_one_row_and_equal_answers(
    own_engine: Engine, settings: Settings, verdicts: list[Verdict]
) -> None:
    (rater,) = prepare(own_engine, raters=1, items=3)
    begin(own_engine, settings, rater)
    code = look(own_engine, settings, rater).code
    assert code is not None
    posts = [verdicts[number % len(verdicts)] for number in range(6)]
    answers = at_once([lambda v=v: give(own_engine, settings, rater, code, "one key", v) for v in posts])  # type: ignore[misc]
    stored = {answer for answer in answers if isinstance(answer, int)}
    assert len(stored) == 1
    refused = [answer for answer in answers if isinstance(answer, Conflict)]
    assert len(refused) == (len(posts) // 2 if len(verdicts) == 2 else 0)
    check(own_engine, ratings=1)
    assert look(own_engine, settings, rater).done == 1


def test_two_tabs_at_the_same_instant_give_one_row(own_engine: Engine, settings: Settings) -> None:
    (rater,) = prepare(own_engine, raters=1, items=3)
    begin(own_engine, settings, rater)
    code = look(own_engine, settings, rater).code
    assert code is not None
    tabs = [("tab 1", Verdict.INTERPRETABLE), ("tab 2", Verdict.NOT_INTERPRETABLE)]
    answers = at_once([lambda t=t: give(own_engine, settings, rater, code, *t) for t in tabs])  # type: ignore[misc]
    assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "int"]
    check(own_engine, ratings=1)


def test_twenty_raters_drain_the_last_five_neurons(own_engine: Engine, settings: Settings) -> None:
    raters = prepare(own_engine, raters=20, items=5, share=5)
    counts = at_once([lambda rater=rater: rate_all(own_engine, settings, rater) for rater in raters])  # type: ignore[misc]
    assert sum(counts) == 5  # type: ignore[arg-type]
    check(own_engine, ratings=5)
    assert {look(own_engine, settings, rater).state for rater in raters} == {"finished"}


@pytest.mark.slow
def test_twenty_raters_with_fifty_verdicts_each_lose_nothing(own_engine: Engine, settings: Settings) -> None:
    raters = prepare(own_engine, raters=20, items=50, capacity=20, share=50)
    counts = at_once([lambda rater=rater: rate_all(own_engine, settings, rater) for rater in raters])  # type: ignore[misc]
    assert counts == [50] * 20
    check(own_engine, ratings=1000)
    with transaction(own_engine) as session:
        rated = select(Assignment.item_id, func.count()).where(Assignment.state == AssignmentState.RATED)
        assert {n for _, n in session.execute(rated.group_by(Assignment.item_id))} == {20}
