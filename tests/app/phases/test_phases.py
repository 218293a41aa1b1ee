"""Practice, the hypothesis check and guesses: each page works, each answer is kept once, and nothing leaks."""

import re
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.log import first_broken_line
from app.models import (
    Assignment,
    CheckAnswer,
    Event,
    Guess,
    Item,
    ItemKind,
    Lesson,
    PracticeAnswer,
    Rater,
    RaterPhase,
    Study,
    Verdict,
)
from app.settings import Settings
from tests.app.crawl import CODE, KEY
from tests.studies import PHASES, make_study, open_rater, phased_runs

NUMBER = re.compile(r'name="number" value="(\d+)"')
YES, NO = "INTERPRETABLE", "NOT_INTERPRETABLE"


@pytest.fixture
def study(session: Session, settings: Settings) -> Study:
    return make_study(session, settings, runs=phased_runs(), **PHASES)


@pytest.fixture
def rater(client: TestClient, session: Session, study: Study) -> TestClient:
    open_rater(client, session, study)
    return client


def me(session: Session) -> Rater:
    session.expire_all()
    return session.scalars(select(Rater)).one()


def practise(rater: TestClient) -> None:
    """Through practice, always saying yes."""
    for _ in range(PHASES["practice_items"]):
        number = number_on(rater.get("/practice").text)
        assert rater.post("/practice/verdict", data={"number": number, "verdict": YES}).status_code == 303
        assert rater.post("/practice/next", data={"number": number}).status_code == 303


def number_on(page: str) -> str:
    found = NUMBER.search(page)
    assert found, page
    return found[1]


def rate_all(rater: TestClient, verdict: Callable[[int], str] = lambda _: YES, hypothesis: str = "a rule") -> int:
    """Give every neuron a verdict; returns how many."""
    rater.post("/rate/begin")
    for count in range(100):
        page = rater.get("/rate").text
        code, key = CODE.search(page), KEY.search(page)
        if not code or not key or "/rate/verdict" not in page or 'id="verdict"' not in page:
            return count
        data = {"assignment": code[1], "key": key[1], "verdict": verdict(count), "hypothesis": hypothesis}
        assert rater.post("/rate/verdict", data=data).status_code == 303
    raise AssertionError("never came to an end")


def check_all(rater: TestClient) -> int:
    for count in range(100):
        answer = rater.get("/check")
        if answer.status_code == 303:
            return count
        data = {"number": number_on(answer.text), "fires": ["1", "3"]}
        assert rater.post("/check/answer", data=data).status_code == 303
    raise AssertionError("never came to an end")


def guess_all(rater: TestClient, guess: str = "gelu") -> int:
    for count in range(100):
        answer = rater.get("/guesses")
        if answer.status_code == 303:
            return count
        data = {"number": number_on(answer.text), "guess": guess}
        assert rater.post("/guesses/guess", data=data).status_code == 303
    raise AssertionError("never came to an end")


# ---- the way through ------------------------------------------------------------------------------


def test_a_rater_goes_through_everything_and_nothing_twice(rater: TestClient, session: Session) -> None:
    assert rater.get("/rate").headers["location"] == "/practice"
    assert rater.get("/thanks").headers["location"] == "/practice"
    practise(rater)
    assert me(session).trained_at is not None
    assert rater.get("/practice").headers["location"] == "/rate"
    given = rate_all(rater)
    page = rater.get("/rate").text
    assert "/next-part" in page
    assert "You can close this page" not in page
    assert rater.post("/next-part").headers["location"] == "/check"
    assert rater.get("/rate").headers["location"] == "/check"
    checked = check_all(rater)
    assert 0 < checked <= given
    assert rater.get("/check").headers["location"] == "/guesses"
    assert guess_all(rater) == PHASES["guesses"]
    assert me(session).phase is RaterPhase.DONE
    assert rater.get("/rate").headers["location"] == "/thanks"
    thanks = rater.get("/thanks")
    assert thanks.status_code == 200
    assert session.scalars(select(Study.log_head)).one() in thanks.text
    assert "You can close this page" in thanks.text
    assert len(session.scalars(select(CheckAnswer)).all()) == checked
    assert first_broken_line(session.scalars(select(Event).order_by(Event.line)).all()) is None


def test_a_study_without_phases_is_as_it_was(client: TestClient, session: Session, settings: Settings) -> None:
    open_rater(client, session, make_study(session, settings))
    assert client.get("/rate").status_code == 200
    assert client.get("/practice").headers["location"] == "/rate"
    rate_all(client)
    assert "/next-part" not in client.get("/rate").text
    assert client.post("/next-part").status_code == 409
    assert me(session).phase is RaterPhase.RATING


# ---- practice -------------------------------------------------------------------------------------


def test_practice_answers_are_balanced_and_true(session: Session, study: Study) -> None:
    lessons = session.scalars(select(Lesson)).all()
    assert [lesson.verdict for lesson in lessons].count(Verdict.INTERPRETABLE) == len(lessons) / 2 == 2
    for lesson in lessons:
        assert (lesson.covered >= 16) == (lesson.verdict is Verdict.INTERPRETABLE)
    assert study.sealed_parts["lessons"]


def test_the_answer_comes_after_the_raters_own(rater: TestClient, session: Session) -> None:
    page = rater.get("/practice")
    assert "That is the answer" not in page.text
    assert "The answer is another one" not in page.text
    number = number_on(page.text)
    rater.post("/practice/verdict", data={"number": number, "verdict": YES, "hypothesis": "mine"})
    told = rater.get("/practice").text
    assert ("That is the answer" in told) != ("The answer is another one" in told)
    assert "/practice/next" in told
    answer = session.scalars(select(PracticeAnswer)).one()
    assert (answer.verdict, answer.hypothesis, answer.read_at) == (Verdict.INTERPRETABLE, "mine", None)
    assert not session.scalars(select(Assignment)).all(), "practice is never counted"


def test_practice_is_resumed_where_it_was_left(rater: TestClient) -> None:
    first = rater.get("/practice").text
    assert rater.get("/practice").text == first
    rater.post("/practice/verdict", data={"number": "1", "verdict": NO})
    rater.post("/practice/next", data={"number": "1"})
    assert number_on(rater.get("/practice").text) == "2"


def test_the_same_practice_form_twice_is_one_answer_and_another_is_told(rater: TestClient, session: Session) -> None:
    for _ in range(2):
        assert rater.post("/practice/verdict", data={"number": "1", "verdict": YES}).status_code == 303
    told = rater.post("/practice/verdict", data={"number": "1", "verdict": NO})
    assert told.status_code == 409
    assert "your first answer stays" in told.text
    assert rater.post("/practice/verdict", data={"number": "3", "verdict": NO}).status_code == 409
    assert len(session.scalars(select(PracticeAnswer)).all()) == 1
    for _ in range(2):
        assert rater.post("/practice/next", data={"number": "1"}).status_code == 303


def test_practice_is_wider_on_request(rater: TestClient) -> None:
    assert len({len(rater.get("/practice/wide/1").content) for _ in range(2)}) == 1
    assert rater.get("/practice/wide/2").status_code == 404
    practise(rater)
    assert rater.get("/practice/wide/1").status_code == 404


def test_practice_neurons_are_never_rated_ones(session: Session, study: Study) -> None:
    kinds = session.scalars(select(Item.kind).where(Item.study_id == study.id)).all()
    assert kinds.count(ItemKind.PRACTICE) == 4
    assert 0 < kinds.count(ItemKind.CHECK) <= kinds.count(ItemKind.NEURON) == 12


# ---- check and guesses ----------------------------------------------------------------------------


def test_only_neurons_called_interpretable_are_checked(rater: TestClient) -> None:
    practise(rater)
    rate_all(rater, lambda _: NO)
    assert rater.post("/next-part").headers["location"] == "/guesses"


def test_rating_is_over_once_it_is_left(rater: TestClient, session: Session) -> None:
    practise(rater)
    rater.post("/rate/begin")
    assert rater.post("/next-part").status_code == 409, "there are neurons left"
    rate_all(rater)
    code = session.scalars(select(Assignment.code).order_by(Assignment.position.desc())).first()
    rater.post("/next-part")
    for path, data in (
        ("/rate/undo", {"assignment": code, "key": "undo" * 4}),
        (f"/rate/given/{code}", {"key": "edit" * 4, "version": "1", "verdict": NO}),
    ):
        answer = rater.post(path, data=data)
        assert answer.status_code == 409, path
        assert "gone on to the next part" in answer.text
    assert rater.post("/rate/go-on").status_code == 409


def test_the_check_shows_the_rule_and_keeps_each_answer_once(rater: TestClient, session: Session) -> None:
    practise(rater)
    rate_all(rater, hypothesis="<b>ends in ing</b>")
    rater.post("/next-part")
    page = rater.get("/check").text
    assert "&lt;b&gt;ends in ing&lt;/b&gt;" in page
    held = page[page.index("snips held") :]
    assert held.count("name=fires") == 10
    assert not re.search(r"class=a([1-9]|1\d)\b", held[: held.index("</main>")]), "nothing is shaded"
    for fires, status in ((["2", "9"], 303), (["9", "2"], 303), (["1"], 409)):
        assert rater.post("/check/answer", data={"number": "1", "fires": fires}).status_code == status
    assert session.scalars(select(CheckAnswer.fires)).all() == [[2, 9]]
    assert rater.post("/check/answer", data={"number": "2", "fires": ["11"]}).status_code == 422
    assert rater.post("/check/stop").headers["location"] == "/guesses"
    assert rater.post("/check/stop").headers["location"] == "/guesses"


def test_conditions_are_named_only_when_all_verdicts_are_given(rater: TestClient, session: Session) -> None:
    practise(rater)
    rate_all(rater)
    rater.post("/next-part")
    assert "SoLU" not in rater.get("/check").text
    rater.post("/check/stop")
    page = rater.get("/guesses").text
    assert "SoLU + LN" in page
    assert "GELU" in page
    assert rater.post("/guesses/guess", data={"number": "1", "guess": "banana"}).status_code == 422
    for guess, status in (("UNKNOWN", 303), ("UNKNOWN", 303), ("gelu", 409)):
        assert rater.post("/guesses/guess", data={"number": "1", "guess": guess}).status_code == status
    assert session.scalars(select(Guess.condition)).all() == [None]


@pytest.mark.parametrize("path", ["/practice", "/check", "/guesses"])
def test_a_stranger_is_not_let_in(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 401


def test_htmx_gets_the_inner_part_and_is_moved_as_a_whole(rater: TestClient) -> None:
    rater.headers["HX-Request"] = "true"
    answer = rater.post("/practice/verdict", data={"number": "1", "verdict": YES})
    assert answer.status_code == 200
    assert answer.text.lstrip().startswith('<div id="rate"')
    assert rater.get("/check").headers["hx-redirect"] == "/practice"


def test_a_closed_study_takes_no_answer(rater: TestClient, session: Session, study: Study) -> None:
    from app.studies.actions import close_study
    from tests.studies import make_administrator

    close_study(session, study.code, make_administrator(session))
    session.flush()
    answer = rater.post("/practice/verdict", data={"number": "1", "verdict": YES})
    assert answer.status_code == 409
    assert "study is closed" in rater.get("/practice").text


def test_the_clock_and_the_instructions_are_the_designs(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(
        session, settings, clock_seconds=20, clock_end_seconds=90, instructions="Rate in the morning.\n<b>Call Ada.</b>"
    )
    link = open_rater(client, session, study)
    for path in (link, "/help"):
        assert "Rate in the morning.\n&lt;b&gt;Call Ada.&lt;/b&gt;" in client.get(path).text, path
    client.post("/rate/begin")
    page = client.get("/rate").text
    assert 'data-turn="20" data-end="90"' in page
    assert "over 90 s" in page
    client.cookies.clear()
    assert "Call Ada" not in client.get("/help").text
