"""What an administrator sees of raters and frees for them; flags that say nothing of items."""

import html
import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.models import Assignment, AssignmentState, Event, Rater, Study
from app.raters import actions
from app.raters.leases import free_by_hand, held_by_raters
from app.raters.queries import rater_rows
from app.raters.work import work_of
from app.settings import Settings
from tests.app.seated import NO, YES, Clock, Hand, faults, item_of, join, seated_study
from tests.studies import make_administrator, make_study, sign_in


def test_the_page_of_a_study_says_when_nobody_is_asked_for_what_is_missing(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    address, said = f"/studies/{study.code}", "Everybody who is in has finished, and 8 places have no verdict."
    hand = Hand(session, settings, join(session, study, "Nadia"))
    for _ in range(4):
        assert hand.begin().state == "item"
        assert "Everybody who is in" not in client.get(address).text
        hand = Hand(session, settings, session.scalars(select(Rater)).one())  # the request forgot the one before
        hand.give()
    page = client.get(address).text
    assert said in page
    assert "Or make a link for somebody new." in page
    actions.deactivate(session, session.get_one(Study, study.id), hand.rater.code, actor="Ada")
    assert said not in client.get(address).text


def test_what_is_in_hand_is_listed_without_saying_which(
    session: Session, settings: Settings, study: Study, time: Clock
) -> None:
    hand = Hand(session, settings, join(session, study, "Nadia"))
    join(session, study, "Omar")
    hand.begin()
    began = time.now()
    time.wait(minutes=29)
    (held,) = held_by_raters(session, study)
    assert (held.rater, held.neurons, held.since, held.stuck) == ("Nadia", 1, began, False)
    assert (held.leased_until, held.last_seen_at) == (began + settings.lease, began)
    time.wait(minutes=1)
    assert [one.stuck for one in held_by_raters(session, study)] == [True]
    assert (hand.page.code or "no code") not in repr(held)


def test_a_neuron_freed_by_hand_goes_to_somebody_else_and_nothing_is_lost(
    session: Session, settings: Settings, time: Clock
) -> None:
    study = seated_study(session, items=1, seats=2, share=1)
    first, second = (Hand(session, settings, join(session, study, name)) for name in ("Nadia", "Omar"))
    code = first.begin().code
    assert second.begin().state == "waiting"
    time.wait(minutes=1)
    assert free_by_hand(session, study, first.rater.code, actor="Ada") == 1
    with pytest.raises(Conflict, match="nothing in hand"):
        free_by_hand(session, study, first.rater.code, actor="Ada")
    assert second.begin().state == "item"
    late = first.give(code=code)
    assert (late.late, late.surplus) == (True, True)
    second.give(NO)
    states = session.scalars(select(Assignment.state).order_by(Assignment.id)).all()
    assert states == [AssignmentState.SURPLUS, AssignmentState.RATED]
    (event,) = session.scalars(select(Event).where(Event.what == "neurons freed")).all()
    assert event.detail == {"rater": first.rater.code, "neurons": 1}
    assert faults(session, time.now()) == []


def test_a_freed_neuron_that_nobody_takes_is_theirs_again_with_what_they_wrote(
    session: Session, settings: Settings, time: Clock
) -> None:
    from app.rating.actions import save_draft

    study = seated_study(session, items=1, seats=1)
    hand = Hand(session, settings, join(session, study))
    code = hand.begin().code or ""
    save_draft(session, settings, hand.locked, code, "half")
    free_by_hand(session, study, hand.rater.code, actor="Ada")
    assert hand.page.state == "begin"
    assert (hand.begin().code, hand.page.draft) == (code, "half")


def test_a_slip_that_was_taken_back_is_no_hurry(session: Session, settings: Settings, time: Clock) -> None:
    study = seated_study(session, items=6, seats=1)
    hand = Hand(session, settings, join(session, study))
    hand.begin()
    for _ in range(6):
        time.wait(seconds=1)
        hand.give(NO)
        hand.undo()
        time.wait(seconds=3)
        hand.give(YES)
    assert work_of(session, study)[hand.rater.id].quick == 0
    assert rater_rows(session, study)[0].flags == []


def test_flags_and_lists_name_no_item_and_no_verdict(session: Session, settings: Settings, time: Clock) -> None:
    study = seated_study(session, items=20, seats=1)
    hand = Hand(session, settings, join(session, study))
    items = {item_of(session, hand.begin().code)}
    while hand.page.state == "item":
        items.add(item_of(session, hand.page.code))
        time.wait(seconds=2)
        hand.give(NO)
    (row,) = rater_rows(session, study)
    said = [flag.message % flag.values for flag in row.flags]
    assert said == ["20 verdicts under 8 s", "the same verdict 20 times out of 20"]
    assert "INTERPRETABLE" not in repr(row)
    codes = session.scalars(select(Assignment.code)).all()
    assert not [code for code in codes if code in repr(row)]


def test_the_page_of_a_study_lists_and_frees_and_lets_in(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    lab = actions.join(session, actions.invite(session, study, "Lab", actor="Ada", reusable=True))
    hand = Hand(session, settings, lab)
    code = hand.begin().code or ""
    rater, base = lab.code, f"/studies/{study.code}/raters/{lab.code}"
    assert client.post(f"{base}/free").status_code == client.post(f"{base}/reactivate").status_code == 401
    sign_in(client, session, make_administrator(session, "Reader", may_manage=False))
    assert client.post(f"{base}/free").status_code == client.post(f"{base}/reactivate").status_code == 403
    looked = client.get(f"/studies/{study.code}").text
    acts = re.findall(r'<form[^>]* action="([^"]+)"', looked)
    assert acts == ["/sign-out"], "who may only look is offered nothing that would be refused"
    assert "It ends by itself after 30 min without a sign of life" in looked
    sign_in(client, session)
    page = client.get(f"/studies/{study.code}").text
    assert "Neurons in hand" in page
    assert code not in page
    assert f"{base}/free" in html.unescape(page)
    assert client.post(f"{base}/free").status_code == 303
    assert client.post(f"{base}/free").status_code == 409
    assert "Neurons in hand" not in client.get(f"/studies/{study.code}").text
    client.post(f"{base}/deactivate")
    assert f"{base}/reactivate" in html.unescape(client.get(f"/studies/{study.code}").text)
    answer = client.post(f"{base}/reactivate")
    found = re.search(r'value="http://testserver(/join/[\w-]{43})"', answer.text)
    assert found
    assert client.get(found[1]).status_code == 200
    assert session.scalars(select(Rater.code).where(Rater.deactivated_at.is_(None))).all() == [rater]
    for act in ("free", "reactivate"):
        assert client.post(f"/studies/{study.code}/raters/nobody/{act}").status_code == 404
        assert client.post(f"/studies/nowhere/raters/{rater}/{act}").status_code == 404
