"""Raters from a panel of participants: who comes, how many are let in, and how they go back."""

import html
import logging
import re
from collections.abc import Callable
from functools import partial

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from app.db import transaction
from app.errors import Conflict, Invalid
from app.key import create_key
from app.models import Event, PanelMember, Rater, RaterPhase, Seat, Study, WithdrawnMember
from app.raters import actions
from app.raters.gone import GONE
from app.raters.panel import Arrival, arrival_of
from app.raters.queries import rater_rows
from app.raters.room import Full
from app.raters.terms import checked, set_terms
from app.raters.withdrawal import withdraw_consent
from app.rating.completion import Completion, completion_of
from app.rating.returning import allowed_host, filled
from app.rating.terms import Terms
from app.settings import Settings
from app.studies.actions import close_study, unblind_study
from tests.app.seated import Hand, seated_study
from tests.app.test_claiming_at_once import at_once
from tests.app.test_phases import practise, rate_all
from tests.studies import PHASES, make_administrator, make_study, phased_runs, sign_in

PERSON = "5f3c0a9b1e2d4c6a7b8e9f01"
ADDRESS = "https://app.prolific.com/submissions/complete?cc={code}"
HOSTS = ["app.prolific.com"]


@pytest.fixture
def study(session: Session) -> Study:
    return seated_study(session, items=6, seats=3)


def link(session: Session, study: Study, most: int | None = None, name: str = "Panel") -> str:
    return f"/join/{actions.invite(session, study, name, actor='Ada', reusable=True, most_raters=most)}"


def come(client: TestClient, path: str, person: str = PERSON, **more: str) -> int:
    """As somebody in a browser of their own; returns the status of the answer."""
    client.cookies.clear()
    params = {"PROLIFIC_PID": person, "STUDY_ID": "s1", "SESSION_ID": "x1"} | more
    return int(client.post(path, params=params, data={"consent": "yes"}).status_code)


def names(session: Session) -> list[str]:
    return list(session.scalars(select(Rater.name).order_by(Rater.id)))


# ---- who comes ----------------------------------------------------------------------------------


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


def withdraw(session: Session, settings: Settings, study: Study) -> Rater:
    """Of the one rater there is, by an administrator."""
    rater = session.scalars(select(Rater)).one()
    return withdraw_consent(
        session, session.get_one(Study, study.id), rater.code, actor="Ada", key_file=settings.key_file
    )


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


def test_one_person_by_two_links_at_the_same_instant_is_one_rater(own_engine: Engine) -> None:
    with transaction(own_engine) as session:
        study = seated_study(session, seats=8)
        tokens = [actions.invite(session, study, name, actor="Ada", reusable=True) for name in "ABCDEF"]

    def join(token: str) -> int:
        with transaction(own_engine) as session:
            return actions.join(session, token, Arrival(PERSON)).id

    assert len(set(at_once([lambda token=token: join(token) for token in tokens]))) == 1  # type: ignore[misc]


# ---- how many -----------------------------------------------------------------------------------


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


# ---- the way back -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "http://app.prolific.com/", "https://evil.example/", "https://app.prolific.com.evil.example/",
        "https://app.prolific.com@evil.example/", "https://user:pw@app.prolific.com/", "//app.prolific.com/",
        "https://app.prolific.com:8443/", "https:\\\\app.prolific.com", "https://evil.example\\@app.prolific.com/",
        "https://app.prolific.com\t.evil.example/", "javascript:alert(1)", "https://app.prolific.com/ x", "https://[",
        "https://app.prolific.com:x/", "https://{code}/", "/rate", "", "https://app.prolific.com/" + "x" * 500,
        "https://аpp.prolific.com/",
    ],
)  # fmt: skip
def test_no_way_back_leads_elsewhere(address: str) -> None:
    assert allowed_host(address, HOSTS) is None
    if address:
        with pytest.raises(Invalid, match="The way back is"):
            checked(Terms(return_address=address), HOSTS)


def test_the_way_back_lies_on_an_allowed_site() -> None:
    assert allowed_host(ADDRESS, HOSTS) == "app.prolific.com"
    assert allowed_host("https://APP.prolific.com", ["App.Prolific.Com"]) == "app.prolific.com"
    assert allowed_host(ADDRESS, []) is None
    assert filled(ADDRESS, "A/B&c") == "https://app.prolific.com/submissions/complete?cc=A%2FB%26c"


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


def test_the_code_is_given_when_the_last_neuron_is_rated(session: Session, settings: Settings, study: Study) -> None:
    study.terms = {"completion_code": "C1", "own_codes": True, "return_address": ADDRESS}
    open_to = settings.model_copy(update={"return_hosts": HOSTS})
    hand = Hand(session, settings, actions.join(session, actions.invite(session, study, "A", actor="Ada")))
    own = f"C1-{hand.rater.completion_code}"
    given = Completion(own, ADDRESS.replace("{code}", own), "app.prolific.com")
    assert completion_of(session, open_to, hand.rater, 2) == given
    assert completion_of(session, open_to, hand.rater, 0) is None
    assert completion_of(session, settings, hand.rater, 2) == Completion(own, None, None), "the site is not allowed"
    assert [row.completion_code for row in rater_rows(session, study)] == [own]
    study.terms = {}
    session.flush()
    assert completion_of(session, open_to, hand.rater, 2) is None


@pytest.mark.parametrize("phase", RaterPhase)
def test_no_code_before_the_last_phase_is_over(
    session: Session, settings: Settings, study: Study, phase: RaterPhase
) -> None:
    study.terms, study.design = {"completion_code": "C1"}, dict(PHASES)
    rater = actions.join(session, actions.invite(session, study, "A", actor="Ada"))
    rater.phase = phase
    session.flush()
    assert (completion_of(session, settings, rater, 4) is not None) == (phase is RaterPhase.DONE)


def test_the_pages_show_the_code_at_the_very_end_only(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings, runs=phased_runs(), **PHASES)
    study.terms = {"completion_code": "C1SECRET"}
    session.flush()
    come(client, link(session, study))
    practise(client)
    rate_all(client)
    for path in ("/rate", "/thanks"):
        page = client.get(path)
        assert "That was the last neuron." in page.text
        assert "C1SECRET" not in page.text
    client.post("/next-part")
    client.post("/check/stop")
    assert "C1SECRET" not in client.get("/guesses").text
    for number in range(1, 4):
        client.post("/guesses/guess", data={"number": str(number), "guess": "UNKNOWN"})
    assert "C1SECRET" in client.get("/thanks").text


def test_undo_takes_the_code_away(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    study.terms = {"completion_code": "C1SECRET"}
    session.flush()
    come(client, link(session, study))
    client.post("/rate/begin")
    assert "C1SECRET" not in client.get("/rate").text
    rate_all(client)
    page = client.get("/rate").text
    assert "C1SECRET" in page
    found = re.search(r'id="undo".*?name="assignment" value="([\w-]+)".*?name="key" value="([\w-]+)"', page, re.DOTALL)
    assert found
    client.post("/rate/undo", data={"assignment": found[1], "key": found[2]})
    assert "C1SECRET" not in client.get("/rate").text


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
