from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.rating.assignment import PageState, Standing, lease_is_over, page_state

BUSY = Standing(open=True, present=True, holds=True, done=3, share=10, free=False, may_return=False)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "item"),
        ({"present": False}, "begin"),
        ({"holds": False, "free": True, "may_return": True}, "begin"),
        ({"holds": False, "may_return": True}, "waiting"),
        ({"holds": False}, "finished"),
        ({"holds": False, "done": 10, "free": True, "may_return": True}, "finished"),
        ({"holds": False, "done": 10, "share": None, "free": True}, "begin"),
        ({"holds": True, "done": 10}, "item"),
        ({"open": False}, "closed"),
        ({"open": False, "holds": False, "done": 10}, "finished"),
        ({"open": False, "holds": False, "done": 0}, "closed"),
    ],
)
def test_a_rater_sees_the_page_of_their_standing(changes: dict[str, bool | int | None], expected: PageState) -> None:
    assert page_state(replace(BUSY, **changes)) == expected  # type: ignore[arg-type]


def test_a_lease_ends_at_its_moment() -> None:
    at = datetime(2031, 3, 1, tzinfo=UTC)
    assert lease_is_over(at, at)
    assert not lease_is_over(at + timedelta(microseconds=1), at)
