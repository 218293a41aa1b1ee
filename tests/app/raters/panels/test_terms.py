"""The terms of a study for its raters."""

import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Invalid
from app.models import Event, Study
from app.raters.terms import checked, set_terms
from app.rating.terms import Terms
from app.settings import Settings
from tests.app.raters.panels.people import ADDRESS, HOSTS
from tests.studies import make_administrator, make_study, sign_in


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (Terms(day_goal=0), "The day’s goal is 0"),
        (Terms(most_a_day=100_001), "The limit a day is 100001"),
        (Terms(most_raters=-1), "The limit of raters is -1"),
        (Terms(person_name="a b"), "“a b”"),
        (Terms(person_name="language"), "cannot be language"),
        (Terms(person_name="SAME", study_name="SAME"), "must differ"),
        (Terms(completion_code="C 1"), "“C 1”"),
        (Terms(completion_code="C" * 41), "up to 40"),
    ],
)
def test_terms_that_cannot_be_are_refused(terms: Terms, said: str) -> None:
    with pytest.raises(Invalid, match=re.escape(said)):
        checked(terms, HOSTS)


def test_terms_are_kept_and_logged_without_the_code(session: Session, study: Study) -> None:
    terms = Terms(day_goal=60, completion_code=" C1SECRET ", own_codes=True, return_address=ADDRESS)
    for _ in range(2):
        set_terms(session, study, terms, HOSTS, actor="Ada")
    assert Terms.of(study.terms) == Terms(
        day_goal=60, completion_code="C1SECRET", own_codes=True, return_address=ADDRESS
    )
    (event,) = session.scalars(select(Event).where(Event.what == "terms changed")).all()
    assert (event.actor, event.detail["day_goal"], event.detail["return_host"]) == ("Ada", 60, "app.prolific.com")
    assert "C1SECRET" not in str(event.detail)
    set_terms(session, study, Terms(), HOSTS, actor="Ada")
    assert study.terms == {}


def test_an_administrator_sets_the_terms(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    path = f"/studies/{study.code}/terms"
    assert client.get(path).status_code == client.post(path).status_code == 401
    sign_in(client, session, make_administrator(session, "Reader", may_manage=False))
    assert client.get(path).status_code == client.post(path).status_code == 403
    sign_in(client, session)
    assert "as “12 of 60 today”" in client.get(path).text
    refused = client.post(path, data={"day_goal": "60", "return_address": "https://evil.example/"})
    assert refused.status_code == 422
    assert "GLANCE_RETURN_HOSTS" in refused.text
    assert 'value="60"' in refused.text
    assert client.post(path, data={"day_goal": "60", "most_a_day": ""}).status_code == 303
    assert Terms.of(session.get_one(Study, study.id).terms) == Terms(day_goal=60)
    assert client.post(path, data={"day_goal": "x"}).status_code == 422
    assert client.get("/studies/nowhere/terms").status_code == client.post("/studies/nowhere/terms").status_code == 404
