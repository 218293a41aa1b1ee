"""An administrator who rates is as blind to their own row as any rater."""

from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import OwnRater, Rater
from app.raters.queries import own_raters, rater_rows
from app.settings import Settings
from tests.app.seated import YES, Hand
from tests.studies import PASSWORD, make_administrator, make_study, open_rater, sign_in


def test_an_administrators_own_row_is_blind(client: TestClient, session: Session, settings: Settings) -> None:
    """Ada rates from the browser in which she is signed in, and calls every control interpretable."""
    study = make_study(session, settings, seats=1, neurons_per_arm=2, mixed_per_arm=2, snippets=6)
    ada, bob = sign_in(client, session), make_administrator(session, "Bob")
    open_rater(client, session, study, "Nobody known")
    rater = session.scalars(select(Rater).where(Rater.name == "Nobody known")).one()
    assert session.scalars(select(OwnRater.rater_id).where(OwnRater.administrator_id == ada.id)).all() == [rater.id]
    hand = Hand(session, settings, rater)
    hand.begin()
    while hand.page.state == "item":
        hand.give(YES)
    known = "controls: %(yes)s of %(n)s called interpretable"
    assert known in [flag.message for flag in rater_rows(session, study, bob)[0].flags]
    assert known not in [flag.message for flag in rater_rows(session, study, ada)[0].flags]
    assert "4 of 4 called interpretable" not in client.get(f"/studies/{study.code}").text


def test_signing_in_where_one_rates_and_bearing_its_name_are_known_too(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    open_rater(client, session, study, "Kim")
    rater = session.scalars(select(Rater)).one()
    ada = make_administrator(session)
    assert own_raters(session, study, ada) == set()
    client.post("/sign-in", data={"name": "Ada", "password": PASSWORD})
    assert own_raters(session, study, ada) == {rater.id}
    assert own_raters(session, study, make_administrator(session, "Kim")) == {rater.id}
