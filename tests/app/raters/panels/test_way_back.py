"""The way back to the panel: to allowed sites alone, with the code, and at the very end."""

import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.errors import Invalid
from app.models import RaterPhase, Study
from app.raters import actions
from app.raters.queries import rater_rows
from app.raters.terms import checked
from app.rating.completion import Completion, completion_of
from app.rating.returning import allowed_host, filled
from app.rating.terms import Terms
from app.settings import Settings
from tests.app.phases.test_phases import practise, rate_all
from tests.app.raters.panels.people import ADDRESS, HOSTS, come, link
from tests.app.seated import Hand
from tests.studies import PHASES, make_study, phased_runs


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
