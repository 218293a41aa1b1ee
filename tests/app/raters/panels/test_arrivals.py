"""Who comes from a panel: by what name, again to the same seat, and never as somebody new after they went."""

import html
import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.errors import Invalid
from app.models import PanelMember, Rater, Study
from app.raters import actions
from app.raters.panel import Arrival, arrival_of
from app.rating.terms import Terms
from app.store.db import transaction
from tests.app.raters.panels.people import PERSON, come, link, names
from tests.app.rating.test_claiming_at_once import at_once
from tests.app.seated import seated_study


def test_the_address_says_who_comes_under_names_of_ones_own() -> None:
    query = [("PROLIFIC_PID", "a1"), ("STUDY_ID", "b2"), ("SESSION_ID", "c3"), ("language", "en")]
    assert arrival_of(query, Terms()) == Arrival("a1", "b2", "c3")
    assert arrival_of([("worker", "A.b_c@d+e-f")], Terms(person_name="worker")) == Arrival("A.b_c@d+e-f")
    assert arrival_of([("language", "en")], Terms()) is None


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ([("PROLIFIC_PID", "")], "says “” for “PROLIFIC_PID”"),
        ([("PROLIFIC_PID", "{{%PROLIFIC_PID%}}")], "says “{{%PROLIFIC_PID%}}”"),
        ([("PROLIFIC_PID", "x" * 101)], "up to 100"),
        ([("PROLIFIC_PID", "<b>")], "says “<b>”"),
        ([("PROLIFIC_PID", "a\x00b")], "which is no name"),
        ([("PROLIFIC_PID", "ok"), ("SESSION_ID", "a b")], "for “SESSION_ID”"),
        ([("PROLIFIC_PID", "one"), ("PROLIFIC_PID", "two")], "more than once"),
        ([("STUDY_ID", "s1")], "lacks “PROLIFIC_PID”"),
    ],
)
def test_bad_values_get_a_sentence(query: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(Invalid, match=re.escape(said)):
        arrival_of(query, Terms())


def test_the_sentence_is_shown_in_the_readers_language(client: TestClient, session: Session, study: Study) -> None:
    path = link(session, study)
    for ask in (client.get, client.post):
        answer = ask(path, params={"PROLIFIC_PID": "<b>"})
        assert answer.status_code == 422
        assert "says “&lt;b&gt;” for “PROLIFIC_PID”" in answer.text
    chinese = client.get(path, params={"PROLIFIC_PID": "<b>", "language": "zh-Hans"})
    assert "“&lt;b&gt;”" in chinese.text
    assert "Open it from" not in chinese.text
    assert names(session) == []


def test_the_same_person_comes_back_to_the_same_seat(client: TestClient, session: Session, study: Study) -> None:
    path, other = link(session, study), f"/join/{actions.invite(session, study, 'B', actor='Ada', reusable=True)}"
    assert come(client, path) == 303
    assert come(client, path, SESSION_ID="x2") == 303
    assert come(client, other) == 303
    assert names(session) == ["Panel"]
    assert "Welcome back" in client.get(path, params={"PROLIFIC_PID": PERSON}).text
    client.cookies.clear()
    assert client.post(path, params={"PROLIFIC_PID": PERSON}).status_code == 303, "consent was given before"
    assert come(client, path, "somebodyelse") == 303
    assert names(session) == ["Panel", "Panel 2"]
    member = session.scalars(select(PanelMember).where(PanelMember.person == PERSON)).one()
    assert (member.panel_study, member.panel_session) == ("s1", "x1")


def test_on_a_shared_browser_the_panel_may_send_somebody_else(
    client: TestClient, session: Session, study: Study
) -> None:
    path = link(session, study)
    for person in ("first", "second", "first"):
        client.post(path, params={"PROLIFIC_PID": person}, data={"consent": "yes"})
    assert names(session) == ["Panel", "Panel 2"]
    persons = session.scalars(select(PanelMember.person).order_by(PanelMember.rater_id)).all()
    assert persons == ["first", "second"]


def test_who_is_let_in_already_is_welcome_back_however_full_the_link(
    client: TestClient, session: Session, study: Study
) -> None:
    path = link(session, study, most=1)
    client.post(path, data={"consent": "yes"})
    assert "Welcome back" in client.get(path).text
    assert client.post(path).headers["location"] == "/rate"
    client.cookies.clear()
    assert client.get(path).status_code == 409


def test_consent_tells_what_is_kept_of_a_panel(client: TestClient, session: Session, study: Study) -> None:
    path, said = link(session, study), "By what name the panel knows you"
    assert said in client.get(path, params={"PROLIFIC_PID": "a"}).text
    assert said not in client.get(path).text


def test_another_study_knows_nobody_of_this_one(client: TestClient, session: Session, study: Study) -> None:
    come(client, link(session, study))
    other = seated_study(session, name="Other")
    come(client, link(session, other))
    assert len(session.scalars(select(PanelMember)).all()) == 2


def test_a_link_of_ones_own_asks_for_no_panel(client: TestClient, session: Session, study: Study) -> None:
    path = f"/join/{actions.invite(session, study, 'Nadia', actor='Ada')}"
    assert come(client, path, "<b>") == 303
    assert session.scalars(select(PanelMember)).all() == []


def test_who_was_shut_out_stays_out(client: TestClient, session: Session, study: Study) -> None:
    path = link(session, study)
    come(client, path)
    actions.deactivate(session, study, session.scalars(select(Rater.code)).one(), actor="Ada")
    assert come(client, path) == 403
    assert names(session) == ["Panel"]


def test_choosing_a_language_keeps_who_comes(client: TestClient, session: Session, study: Study) -> None:
    page = client.get(link(session, study), params={"PROLIFIC_PID": "a", "SESSION_ID": "s"})
    found = re.search(r'href="(\?[^"]*)" lang="zh-Hans"', page.text)
    assert found
    assert html.unescape(found[1]) == "?PROLIFIC_PID=a&SESSION_ID=s&language=zh-Hans"


def test_one_person_by_two_links_at_the_same_instant_is_one_rater(own_engine: Engine) -> None:
    with transaction(own_engine) as session:
        study = seated_study(session, seats=8)
        tokens = [actions.invite(session, study, name, actor="Ada", reusable=True) for name in "ABCDEF"]

    def join(token: str) -> int:
        with transaction(own_engine) as session:
            return actions.join(session, token, Arrival(PERSON)).id

    assert len(set(at_once([lambda token=token: join(token) for token in tokens]))) == 1  # type: ignore[misc]
