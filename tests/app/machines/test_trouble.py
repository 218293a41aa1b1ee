"""An endpoint that fails, refuses or drags on: no verdict is lost, doubled or invented."""

from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.models import MachineCall, Study
from tests.app.endpoint import Script, drips, hangs_up, message, refuses_and_breaks_off, reply, says, serving, sleeps
from tests.app.machines.running import ITEMS, Run

TROUBLE = {
    "limited": (reply(429, b"slow down", Retry_After="7"), "limited"),
    "server error": (reply(503, b"busy"), "failed"),
    "half a server error": (refuses_and_breaks_off, "failed"),
    "no JSON": (reply(200, b"<html>"), "malformed"),
    "prose": (message("I think it is interpretable."), "malformed"),
    "another verdict": (says("MAYBE"), "malformed"),
    "cut off": (says("INTERPRETABLE", finish="length"), "malformed"),
    "hang-up": (hangs_up, "disconnected"),
    "half a body": (reply(200, b"{", Content_Length="99"), "disconnected"),
}


@pytest.mark.parametrize("name", TROUBLE)
def test_after_trouble_the_same_item_is_asked_about_again(
    own_engine: Engine, study: Study, script: Script, name: str
) -> None:
    trouble, outcome = TROUBLE[name]
    script.steps = [trouble, trouble, says("INTERPRETABLE", "a rule")]
    run = Run(own_engine, study, script)
    assert run.go() is None
    assert run.outcomes()[:3] == [outcome, outcome, "answered"]
    assert len({one["body"]["messages"][1]["content"] for one in script.asked[:3]}) == 1
    assert sorted(run.verdicts()) == ["INTERPRETABLE"] + ["NOT_INTERPRETABLE"] * (ITEMS - 1)
    assert len(run.pauses) == 2
    assert min(run.pauses) >= (7 if name == "limited" else 0.5)


@pytest.mark.parametrize("slow", [sleeps(1.5), drips(1.5)], ids=["silence", "a byte now and then"])
def test_a_reply_that_does_not_come_in_time_is_not_waited_for(
    own_engine: Engine, study: Study, script: Script, slow: Any
) -> None:
    script.steps = [slow]
    run = Run(own_engine, study, script, timeout=0.4)
    assert run.go() is None
    assert run.outcomes()[:2] == ["timed_out", "answered"]
    assert len(run.verdicts()) == ITEMS
    with run.transactions() as session:
        seconds = session.scalars(select(MachineCall.seconds).order_by(MachineCall.id)).first()
    assert seconds is not None
    assert 0.3 < seconds < 1.4


def test_a_refusal_is_not_argued_with_and_leaves_no_verdict(own_engine: Engine, study: Study, script: Script) -> None:
    script.steps = [message(None, refusal="I cannot help with that."), says("INTERPRETABLE", finish="content_filter")]
    run = Run(own_engine, study, script)
    assert run.go() is None
    assert run.outcomes()[:2] == ["refused", "refused"]
    assert run.done == [False, False] + [True] * (ITEMS - 2)
    assert len(run.verdicts()) == ITEMS - 2
    again = Run(own_engine, study, script)
    assert again.go() is None
    assert len(again.verdicts()) == ITEMS
    assert len(script.asked) == ITEMS + 2


def test_an_item_that_never_has_an_answer_is_left_and_none_is_invented(
    own_engine: Engine, study: Study, script: Script
) -> None:
    script.steps = [message("?")] * 3
    run = Run(own_engine, study, script)
    assert run.go() is None
    assert run.outcomes() == ["malformed"] * 3 + ["answered"] * (ITEMS - 1)
    assert len(run.verdicts()) == ITEMS - 1


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_no_other_try_would_change_stops_the_run(
    own_engine: Engine, study: Study, script: Script, status: int
) -> None:
    script.steps = [says("INTERPRETABLE"), reply(status, b"no such model")]
    why = Run(own_engine, study, script).go()
    assert why is not None
    assert "no such model" in why
    assert len(script.asked) == 2


def test_an_endpoint_that_is_not_at_work_is_left_alone(own_engine: Engine, study: Study, script: Script) -> None:
    script.always = reply(503, b"down for repair")
    run = Run(own_engine, study, script, tries=2)
    why = run.go()
    assert why is not None
    assert "down for repair" in why
    assert len(script.asked) == 6


def test_a_redirect_is_not_followed_with_the_key(own_engine: Engine, study: Study, script: Script) -> None:
    with serving(Script()) as elsewhere:
        script.always = reply(302, b"", Location=f"{elsewhere.url}/chat/completions")
        Run(own_engine, study, script, tries=1).go()
        assert elsewhere.asked == []


def test_a_server_that_is_not_there(own_engine: Engine, study: Study, script: Script) -> None:
    run = Run(own_engine, study, Script(url="http://127.0.0.1:9/v1"), tries=1)
    why = run.go()
    assert why is not None
    assert "cannot be reached" in why
    assert run.outcomes() == ["disconnected"] * 3
