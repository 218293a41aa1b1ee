"""What is kept of who comes from a panel, and what goes with them."""

import html
import logging

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.key import create_key
from app.models import Event, PanelMember, Rater, Study, WithdrawnMember
from app.raters import actions
from app.raters.gone import GONE
from app.settings import Settings
from app.studies.actions import close_study, unblind_study
from tests.app.raters.panels.people import PERSON, come, link, names, withdraw
from tests.app.seated import seated_study
from tests.studies import make_administrator, make_study, sign_in


def test_who_they_are_is_in_the_raters_row_and_nowhere_else(
    client: TestClient, session: Session, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    lines = caplog
    caplog.set_level(logging.INFO, "glance.requests")
    study = make_study(session, settings)
    come(client, link(session, study))
    client.cookies.clear()
    sign_in(client, session)
    page = client.get(f"/studies/{study.code}").text
    assert PERSON in page
    for form in ("csv", "json"):
        assert PERSON not in client.get(f"/studies/{study.code}/exports/progress.{form}").text
    client.post(f"/studies/{study.code}/close")
    for table in ("progress", "raters", "sittings", "ratings"):
        answer = client.get(f"/studies/{study.code}/exports/{table}.csv")
        assert answer.status_code == 200
        assert PERSON not in answer.text
    assert PERSON not in client.get("/audit").text
    assert PERSON not in client.get("/audit.csv").text
    assert lines.messages
    assert PERSON not in lines.text
    logged = session.scalars(select(Event)).all()
    assert PERSON not in str([vars(event) for event in logged])


def test_withdrawal_removes_who_they_are(
    client: TestClient, session: Session, settings: Settings, study: Study
) -> None:
    path = link(session, study)
    come(client, path)
    assert session.scalars(select(Rater)).one().completion_code
    rater = withdraw(session, settings, study)  # also where the key is not at hand
    assert session.scalars(select(PanelMember)).all() == []
    assert rater.completion_code is None
    assert session.scalars(select(WithdrawnMember)).all() == []


def test_who_withdrew_or_was_shut_out_is_not_taken_for_somebody_new(
    client: TestClient, session: Session, settings: Settings, study: Study
) -> None:
    """Both read one sentence, so that nobody who tries names can tell who withdrew."""
    create_key(settings.key_file)
    path, elsewhere = link(session, study), link(session, seated_study(session, name="Another"))
    come(client, path)
    withdraw(session, settings, study)
    come(client, path, "shut-out")
    other = session.scalars(select(Rater).where(Rater.withdrawn_at.is_(None))).one()
    actions.deactivate(session, session.get_one(Study, study.id), other.code, actor="Ada")
    client.cookies.clear()
    for person in (PERSON, "shut-out"):
        for ask in (client.get, client.post):
            answer = ask(path, params={"PROLIFIC_PID": person})
            assert answer.status_code == 403
            assert html.escape(GONE) in answer.text
    assert come(client, link(session, session.get_one(Study, study.id), name="B")) == 403, "by no other link either"
    assert len(names(session)) == 2
    assert come(client, path, "somebodyelse") == 303
    assert come(client, elsewhere) == 303, "it is about one study"


def test_of_who_withdrew_only_a_keyed_fingerprint_stays_and_goes_with_unblinding(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    come(client, link(session, study))
    withdraw(session, settings, study)
    (kept,) = session.scalars(select(WithdrawnMember)).all()
    assert PERSON not in kept.fingerprint
    assert set(WithdrawnMember.__table__.columns.keys()) == {"study_id", "fingerprint"}, "nothing leads to a rater"
    settings.key_file.rename(settings.key_file.with_name("away"))
    create_key(settings.key_file)
    assert come(client, link(session, session.get_one(Study, study.id), name="B")) == 303, "not without the very key"
    settings.key_file.with_name("away").rename(settings.key_file)
    administrator = make_administrator(session)
    close_study(session, study.code, administrator)
    assert len(session.scalars(select(WithdrawnMember)).all()) == 1
    unblind_study(session, settings, study.code, administrator, typed_name=study.name, reason="done")
    assert session.scalars(select(WithdrawnMember)).all() == []
