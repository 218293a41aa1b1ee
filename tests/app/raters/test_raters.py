import html
import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Event, Invitation, Rating, Seat, Sitting, Study
from app.raters import actions
from app.raters.queries import rater_rows, sitting_rows
from app.settings import Settings
from app.studies.queries import progress
from tests.app.seated import NO, YES, Clock, Hand, faults, join, seated_study
from tests.studies import make_administrator, make_study, sign_in


@pytest.fixture
def study(session: Session) -> Study:
    return seated_study(session, items=6, seats=3)


def test_a_row_says_how_somebody_works_and_not_what_they_say(
    session: Session, settings: Settings, study: Study, time: Clock
) -> None:
    hand = Hand(session, settings, join(session, study, "Nadia"))
    hand.begin()
    for seconds in (10, 50):
        time.wait(seconds=seconds)
        hand.give(YES, "commas")
    (row,) = rater_rows(session, study)
    assert (row.name, row.done, row.share, row.finished, row.link) == ("Nadia", 2, 2, True, "opened")
    assert (row.median_seconds, row.active_minutes, row.last_seen_at) == (30.0, 1.0, time.now())
    assert "commas" not in repr(row)
    assert "INTERPRETABLE" not in repr(row)


@pytest.mark.parametrize(("times", "median"), [([7], 7.0), ([9, 1], 5.0), ([9, 1, 2], 2.0), ([1, 2, 4, 100], 3.0)])
def test_the_database_finds_the_median(
    session: Session, settings: Settings, time: Clock, times: list[int], median: float
) -> None:
    study = seated_study(session, items=6, seats=1)
    hand = Hand(session, settings, join(session, study))
    hand.begin()
    for seconds in times:
        time.wait(seconds=seconds)
        hand.give(NO)
    assert rater_rows(session, study)[0].median_seconds == median


def test_a_verdict_that_was_taken_back_is_counted_nowhere(
    session: Session, settings: Settings, study: Study, time: Clock
) -> None:
    hand = Hand(session, settings, join(session, study, "Nadia"))
    hand.begin()
    for seconds in (100, 10):
        time.wait(seconds=seconds)
        hand.give(YES)
        if seconds == 100:
            hand.undo()
    (row,), (sitting,) = rater_rows(session, study), sitting_rows(session, settings, study)
    pooled = progress(session, settings, study)
    assert (row.done, sitting.verdicts, pooled.done, pooled.today) == (1, 1, 1, 1)
    assert row.median_seconds == pooled.median_seconds


def test_links_without_a_rater_have_rows_too(session: Session, study: Study, time: Clock) -> None:
    join(session, study, "Nadia")
    actions.invite(session, study, "Omar", actor="Ada")
    actions.invite(session, study, "Lab", actor="Ada", reusable=True)
    gone = actions.invite(session, study, "Gone", actor="Ada")
    actions.revoke(
        session, study, session.scalars(select(Invitation.code).where(Invitation.name == "Gone")).one(), actor="Ada"
    )
    assert [(row.name, row.link, row.reusable) for row in rater_rows(session, study)] == [
        ("Nadia", "opened", False),
        ("Gone", "revoked", False),
        ("Lab", "new", True),
        ("Omar", "new", False),
    ]
    assert gone


def test_a_rater_who_is_shut_out_leaves_verdicts_place_and_seat(
    session: Session, settings: Settings, study: Study
) -> None:
    first = Hand(session, settings, join(session, study, "Nadia"))
    first.begin()
    first.give()
    actions.deactivate(session, study, first.rater.code, actor="Ada")
    actions.deactivate(session, study, first.rater.code, actor="Ada")
    assert session.scalars(select(func.count()).select_from(Rating)).one() == 1
    assert session.scalars(select(Seat.rater_id).where(Seat.number == 1)).one() is None
    assert session.scalars(select(Sitting.ended_by)).one() == "Ada"
    second = Hand(session, settings, join(session, study, "Omar"))
    second.rater.share = None
    second.begin()
    while second.page.state == "item":
        second.give()
    assert second.page.done == 5  # everything but what the first one has rated
    assert faults(session, Clock().now()) == []
    shut_out = select(func.count()).where(Event.study_id == study.id, Event.what == "rater deactivated")
    assert session.scalars(shut_out).one() == 1


# ---- pages --------------------------------------------------------------------------------------


def test_a_link_is_shown_once_and_works(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    response = client.post(f"/studies/{study.code}/raters", data={"name": "Nadia <b>", "days": "7"})
    assert response.status_code == 200
    assert "Nadia &lt;b&gt;" in response.text
    found = re.search(r'value="http://testserver(/join/[\w-]{43})"', response.text)
    assert found
    assert client.get(found[1]).status_code == 200
    page = client.get(f"/studies/{study.code}")
    assert "Nadia &lt;b&gt;" in page.text
    assert found[1] not in page.text
    again = client.post(f"/studies/{study.code}/raters", data={"name": "Nadia <b>"})
    assert again.status_code == 409
    assert "already a link" in again.text


def test_what_an_administrator_does_to_raters_is_a_form_away(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    hand = Hand(session, settings, join(session, study, "Nadia"))
    hand.begin()
    page = client.get(f"/studies/{study.code}").text
    posts = [html.unescape(path) for path in re.findall(r'action="(/studies/[^"]+/(?:end|revoke|deactivate))"', page)]
    assert len(posts) == 3
    for path in sorted(posts, key=lambda path: "deactivate" in path):
        response = client.post(path)
        assert (response.status_code, response.headers["location"]) == (303, f"/studies/{study.code}")
    page = client.get(f"/studies/{study.code}").text
    assert "ended by Ada" in page
    assert "shut out" in page


@pytest.mark.parametrize(
    "path", ["raters", "links/x/revoke", "raters/x/deactivate", "sittings/x/end", "sittings/x/reopen"]
)
def test_only_who_may_manage_can_and_unknown_is_404(
    client: TestClient, session: Session, study: Study, path: str
) -> None:
    address, form = f"/studies/{study.code}/{path}", {"name": "Nadia"}
    assert client.post(address, data=form).status_code == 401
    sign_in(client, session, make_administrator(session, "Reader", may_manage=False))
    assert client.post(address, data=form).status_code == 403
    sign_in(client, session)
    assert client.post(f"/studies/nowhere/{path}", data=form).status_code == 404
    if path != "raters":
        assert client.post(address).status_code == 404
    else:
        assert client.post(address, data={"name": "x" * 201}).status_code == 422
        assert client.post(address, data={"name": "a", "days": "8"}).status_code == 422
        assert client.post(address).status_code == 422


def test_the_table_asks_as_few_queries_for_many_raters_as_for_one(
    session: Session, settings: Settings, study: Study
) -> None:
    from sqlalchemy import event

    statements: list[str] = []
    connection = session.connection()
    event.listen(connection, "before_cursor_execute", lambda *args: statements.append(args[2]))
    counts = []
    for name in ("A", "B", "C"):
        join(session, study, name)
        session.flush()
        statements.clear()
        rater_rows(session, study)
        counts.append(len(statements))
    assert counts == [6, 6, 6]
