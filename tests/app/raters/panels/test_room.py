"""How many a link and a study let in."""

import re
from collections.abc import Callable
from functools import partial

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.models import Rater, Seat, Study
from app.raters import actions
from app.raters.panel import Arrival
from app.raters.room import Full
from app.settings import Settings
from app.store.db import transaction
from tests.app.raters.panels.people import PERSON, come, link, names
from tests.app.rating.test_claiming_at_once import at_once
from tests.app.seated import seated_study
from tests.studies import make_study, sign_in


def test_a_link_lets_in_so_many_and_a_place_that_came_free_counts(
    client: TestClient, session: Session, study: Study
) -> None:
    path = link(session, study, most=1)
    assert come(client, path, "first") == 303
    for ask in (client.get, client.post):
        client.cookies.clear()
        answer = ask(path, params={"PROLIFIC_PID": "second"})
        assert answer.status_code == (409 if ask == client.get else 422)
    answer = client.post(path, params={"PROLIFIC_PID": "second"}, data={"consent": "yes"})
    assert answer.status_code == 409
    assert "As many people as this link lets in have joined already." in answer.text
    assert "No place free just now" in answer.text
    assert names(session) == ["Panel"]
    assert come(client, path, "first") == 303, "who is in comes back"
    actions.deactivate(session, study, session.scalars(select(Rater.code)).one(), actor="Ada")
    assert come(client, path, "second") == 303


def test_a_study_takes_so_many_at_once(client: TestClient, session: Session, study: Study) -> None:
    study.terms = {"most_raters": 1}
    session.flush()
    actions.join(session, actions.invite(session, study, "A", actor="Ada"))
    with pytest.raises(Full, match="as many raters as it takes at once"):
        actions.join(session, actions.invite(session, study, "B", actor="Ada"))
    answer = client.get(link(session, study))
    assert answer.status_code == 409
    assert "This study has as many raters as it takes at once." in answer.text


def test_a_study_without_free_seats_says_so_before_anybody_reads(
    client: TestClient, session: Session, study: Study
) -> None:
    path = link(session, study)
    for person in ("a1", "a2", "a3"):
        come(client, path, person)
    client.cookies.clear()
    answer = client.get(path)
    assert answer.status_code == 409
    assert "All places of this study are taken." in answer.text
    assert "I have read this" not in answer.text


@pytest.mark.parametrize("by", ["link", "study"])
def test_a_limit_holds_at_the_same_instant(own_engine: Engine, by: str) -> None:
    with transaction(own_engine) as session:
        study = seated_study(session, seats=8)
        study.terms = {"most_raters": 2} if by == "study" else {}
        most = 2 if by == "link" else None
        tokens = [actions.invite(session, study, "A", actor="Ada", reusable=True, most_raters=most)] * 6
        if by == "study":
            tokens = [actions.invite(session, study, name, actor="Ada") for name in "BCDEFG"]

    def join(token: str, person: int) -> int:
        with transaction(own_engine) as session:
            return actions.join(session, token, Arrival(f"p{person}")).id

    acts: list[Callable[[], object]] = [partial(join, token, n) for n, token in enumerate(tokens)]
    assert sorted(type(answer).__name__ for answer in at_once(acts)) == ["Full"] * 4 + ["int"] * 2
    with transaction(own_engine) as session:
        assert session.scalars(select(func.count()).select_from(Seat).where(Seat.rater_id.is_not(None))).one() == 2


def test_only_a_link_for_several_can_be_limited(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    path, form = f"/studies/{study.code}/raters", {"name": "Panel", "reusable": "true"}
    assert client.post(path, data={"name": "One", "most": "3"}).status_code == 422
    assert client.post(path, data=form | {"most": "0"}).status_code == 422
    assert client.post(path, data=form | {"most": "x"}).status_code == 422
    made = client.post(path, data=form | {"most": "3"})
    assert "?PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID={{%STUDY_ID%}}&amp;SESSION_ID=" in made.text
    found = re.search(r'value="http://testserver(/join/[\w-]{43})"', made.text)
    assert found
    client.post(found[1], params={"PROLIFIC_PID": PERSON}, data={"consent": "yes"})
    assert "lets in many; 1 of at most 3 are in" in client.get(f"/studies/{study.code}").text


def test_a_closed_study_lets_nobody_new_in(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    path = link(session, study)
    come(client, path)
    sign_in(client, session)
    client.post(f"/studies/{study.code}/close")
    assert come(client, path, "another") == 409
    with pytest.raises(Conflict):
        actions.join(session, path.removeprefix("/join/"), Arrival("another"))
    assert come(client, path) == 303
