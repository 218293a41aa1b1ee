"""The page of unblinding in Chinese: whatever it has to say, nothing of it stays English."""

import html
import re
from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.models import Amendment, Event, Item, ItemContent, ItemKey, Study
from app.settings import Settings
from app.studies.actions import close_study
from app.studies.early import open_one
from app.studies.plans import amend_plan
from app.words.language import language
from app.words.said import Said
from tests.app.seated import Hand, join
from tests.studies import PASSWORD, make_administrator, make_study, sign_in

OURS = {"Glance", "Winter", "study", "Ada", "Bob", "UTC", "GLANCE_KEY_FILE", "chmod", "English"}
"""Names and commands, which stay as they are."""
GOOD = {"name": "Winter study", "reason": "理由", "password": PASSWORD}


def english(page: str) -> list[str]:
    """The English words of a page's text; digests, codes and paths left out."""
    text = page[page.index("<main") : page.index("</main>")]
    text = re.sub(r"<code.*?</code>|<[^>]+>", " ", text, flags=re.DOTALL)
    text = re.sub(r"/\S+|\b[\w-]{16}\b", " ", html.unescape(text))
    return [word for word in re.findall(r"[A-Za-z_]{2,}", text) if word not in OURS]


@pytest.fixture
def chinese(client: TestClient) -> TestClient:
    client.cookies.set("glance_language", "zh-Hans")
    return client


@pytest.fixture
def study(session: Session, settings: Settings) -> Study:
    return make_study(session, settings, unblinders=2)


def test_an_open_study_and_one_with_everything_to_say(
    chinese: TestClient, session: Session, settings: Settings, study: Study
) -> None:
    ada, address = make_administrator(session), f"/studies/{study.code}/unblind"
    Hand(session, settings, join(session, study)).begin()
    sign_in(chinese, session, ada)
    assert english(chinese.get(address).text) == []
    study, ada = session.get_one(Study, study.id), session.merge(ada)
    amend_plan(session, study.code, ada, {"alpha": "0.01"}, "更严格")
    code = session.scalars(select(Item.code).where(Item.study_id == study.id)).all()[0]
    open_one(session, settings, study.code, ada, item=code, rater="", reason="紧急")
    close_study(session, study.code, ada)
    page = chinese.get(address).text
    assert english(page) == []
    assert "尚无判断" in page
    assert chinese.post(address, data=GOOD).status_code == 303
    assert english(chinese.get(address).text) == [], "asked for"
    assert english(chinese.post(address, data=GOOD).text) == [], "nobody is a second person to themselves"
    sign_in(chinese, session, make_administrator(session, "Bob"))
    assert english(chinese.get(address).text) == [], "somebody else is asked to say yes"


@pytest.mark.parametrize(
    "wrong", [{"name": "winter 研究"}, {"reason": " "}, {"reason": "长" * 2001}, {"password": "something else"}]
)
def test_refusals(chinese: TestClient, session: Session, study: Study, wrong: dict[str, str]) -> None:
    sign_in(chinese, session)
    chinese.post(f"/studies/{study.code}/close")
    answer = chinese.post(f"/studies/{study.code}/unblind", data=GOOD | wrong)
    assert answer.status_code in (403, 422)
    assert [word for word in english(answer.text) if word != "winter"] == []


@pytest.mark.parametrize("what", ["contents", "keys", "plan", "amendment", "log", "end of the log", "verdicts"])
def test_what_bars_unblinding(
    chinese: TestClient, session: Session, settings: Settings, study: Study, what: str
) -> None:
    ada = make_administrator(session)
    hand = Hand(session, settings, join(session, study))
    hand.begin()
    hand.give()
    amend_plan(session, study.code, ada, {"alpha": "0.01"}, "更严格")
    close_study(session, study.code, ada)
    session.execute(
        {
            "contents": update(ItemContent).values(fragment=b"changed"),
            "keys": update(ItemKey).values(leaf="0" * 64),
            "plan": update(Study).values(plan={**study.plan, "alpha": 0.1}),
            "amendment": update(Amendment).values(plan={**study.plan, "alpha": 0.2}),
            "log": update(Event).where(Event.line == 1).values(actor="Eve"),
            "end of the log": update(Study).values(log_lines=study.log_lines + 1),
            "verdicts": update(Event).where(Event.what == "study closed").values(detail={}),
        }[what]
    )
    session.expire_all()
    sign_in(chinese, session, ada)
    page = chinese.get(f"/studies/{study.code}/unblind").text
    assert 'class="not"' in page
    assert english(page) == []
    assert english(chinese.post(f"/studies/{study.code}/unblind", data=GOOD).text) == []


def test_without_its_key_file(chinese: TestClient, session: Session, settings: Settings, study: Study) -> None:
    sign_in(chinese, session)
    settings.key_file.chmod(0o644)
    assert english(chinese.get(f"/studies/{study.code}/unblind").text) == []
    settings.key_file.unlink()
    assert english(chinese.get(f"/studies/{study.code}/unblind").text) == []


def test_a_sentence_is_english_by_itself_and_holds_others() -> None:
    at = datetime(2031, 3, 22, 8, 31, tzinfo=UTC)
    inner = Said("%(at)s. %(done)s of %(wanted)s verdicts.", at=at, done=3, wanted=9)
    outer = Said("The study was not unblinded. %(faults)s", faults=(inner, Said("The plan is not what was sealed.")))
    assert outer == (
        "The study was not unblinded. 22 March 2031, 08:31 UTC. 3 of 9 verdicts. The plan is not what was sealed."
    )
    assert language("en").say(outer) == outer
    said = language("zh-Hans").say(outer)
    assert "9 个判断中已有 3 个" in said
    assert re.findall(r"[A-Za-z]+", said) == ["UTC"]
    assert language("zh-Hans").say(Said("%(what)s. %(detail)s", what="The plan", detail=1)) == "The plan。1", "a name"
    assert Conflict("100 % sure").message == "100 % sure"
