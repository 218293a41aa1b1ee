"""A machine rater at work, against a server on loopback: no verdict is lost, doubled or invented."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from app.cli import main
from app.db import transaction
from app.errors import Conflict
from app.machines import actions, queries
from app.machines.asking import instructions
from app.machines.budget import Budget
from app.machines.endpoint import endpoint
from app.machines.rating import Work, rate_everything
from app.machines.reading import as_text
from app.models import (
    Arm,
    Assignment,
    CallOutcome,
    Event,
    Item,
    ItemContent,
    MachineCall,
    MachineRater,
    MachineVerdict,
    Rater,
    Rating,
    Seat,
    Study,
    StudyState,
)
from app.settings import Settings, get_settings
from tests.app.endpoint import Script, drips, hangs_up, message, refuses_and_breaks_off, reply, says, serving, sleeps
from tests.studies import make_study

KEY = "sk-a-key-that-must-stay-secret"
ITEMS = 6


@pytest.fixture
def script() -> Iterator[Script]:
    with serving(Script()) as started:
        yield started


@pytest.fixture
def study(own_engine: Engine, settings: Settings) -> Study:
    with transaction(own_engine) as session:
        return make_study(session, settings, neurons_per_arm=3)


class Run:
    """One run of the machine, as the command makes it."""

    def __init__(self, engine: Engine, study: Study, script: Script, **limits: Any) -> None:
        self.transactions = partial(transaction, engine)
        self.pauses: list[float] = []
        where = endpoint(script.url, KEY, limits.pop("timeout", 5.0))
        tries, told = limits.pop("tries", 3), instructions()
        with self.transactions() as session:
            self.machine = actions.enter(
                session,
                study,
                name=limits.pop("name", "a model"),
                model=limits.pop("model", "m"),
                endpoint=where.named,
                told=told,
            )
        self.work = Work(
            machine=self.machine,
            endpoint=where,
            told=told,
            budget=Budget(**limits),
            tries=tries,
            pause=self.pauses.append,
        )
        self.done: list[bool] = []

    def go(self) -> str | None:
        return rate_everything(self.transactions, self.work, self.done.append)

    def verdicts(self) -> list[str]:
        with self.transactions() as session:
            mine = MachineVerdict.machine_rater_id == self.machine.id
            return [verdict.value for verdict in session.scalars(select(MachineVerdict.verdict).where(mine))]

    def outcomes(self) -> list[str]:
        with self.transactions() as session:
            mine = select(MachineCall.outcome).where(MachineCall.machine_rater_id == self.machine.id)
            return [outcome.value for outcome in session.scalars(mine.order_by(MachineCall.id))]

    def summary(self) -> queries.Summary:
        with self.transactions() as session:
            return queries.summary(session, self.machine)


def test_every_item_is_asked_about_once_with_what_people_are_sent(
    own_engine: Engine, study: Study, script: Script
) -> None:
    run = Run(own_engine, study, script, price_in=2.0, price_out=10.0)
    assert run.go() is None
    assert run.done == [True] * ITEMS
    assert run.verdicts() == ["NOT_INTERPRETABLE"] * ITEMS
    found = run.summary()
    assert (found.items, found.verdicts, found.calls, found.outcomes) == (ITEMS, ITEMS, ITEMS, {"answered": ITEMS})
    assert (found.prompt_tokens, found.completion_tokens) == (1000 * ITEMS, 20 * ITEMS)
    assert found.cost == pytest.approx(ITEMS * (1000 * 2 + 20 * 10) / 1e6)
    with run.transactions() as session:
        fragments = session.scalars(select(ItemContent.fragment)).all()
    assert sorted(one["body"]["messages"][1]["content"] for one in script.asked) == sorted(map(as_text, fragments))


def test_a_request_says_nothing_of_the_study_and_the_key_is_written_nowhere(
    own_engine: Engine, study: Study, script: Script
) -> None:
    run = Run(own_engine, study, script)
    script.steps = [reply(500, f"you sent {KEY[:6]}".encode())]
    run.go()
    with run.transactions() as session:
        arms = session.scalars(select(Arm)).all()
        secrets = {study.code, study.name, study.seal_root, *session.scalars(select(Item.code))}
        secrets |= {text for arm in arms for text in (arm.name, arm.condition, arm.run_digest, str(arm.size))}
        kept = [
            json.dumps({name: str(value) for name, value in vars(row).items()})
            for table in (MachineRater, MachineCall, MachineVerdict, Event)
            for row in session.scalars(select(table))
        ]
    for one in script.asked:
        assert one["headers"].pop("Authorization") == f"Bearer {KEY}"
        sent = json.dumps(one, ensure_ascii=False)
        assert not [secret for secret in secrets if secret in sent]
    assert kept
    assert not [text for text in kept if KEY in text]


def test_nothing_of_it_is_in_the_tables_of_people(own_engine: Engine, study: Study, script: Script) -> None:
    Run(own_engine, study, script).go()
    with transaction(own_engine) as session:
        for table in (Rater, Assignment, Rating):
            assert session.scalars(select(func.count()).select_from(table)).one() == 0
        assert not session.scalars(select(Seat).where(Seat.rater_id.is_not(None))).all()


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


# ---- limits, and going on -----------------------------------------------------------------------


def test_a_limit_of_calls_counts_earlier_runs(own_engine: Engine, study: Study, script: Script) -> None:
    assert Run(own_engine, study, script, most_calls=2).go() == "The limit of 2 calls is reached."
    assert Run(own_engine, study, script, most_calls=3).go() == "The limit of 3 calls is reached."
    run = Run(own_engine, study, script)
    assert run.go() is None
    assert len(run.verdicts()) == len(script.asked) == ITEMS


def test_a_budget_is_not_gone_over(own_engine: Engine, study: Study, script: Script) -> None:
    each = (1000 * 2 + 20 * 10) / 1e6
    run = Run(own_engine, study, script, price_in=2.0, price_out=10.0, most_cost=3.5 * each)
    why = run.go()
    assert why is not None
    assert len(script.asked) == 3
    cost = run.summary().cost
    assert cost is not None
    assert cost <= 3.5 * each


def test_a_call_that_nobody_saw_the_end_of_counts_and_is_made_again(
    own_engine: Engine, study: Study, script: Script
) -> None:
    run = Run(own_engine, study, script, most_calls=2)
    with run.transactions() as session:
        item_id = queries.left(session, run.machine)[0]
        actions.start_call(session, run.machine, item_id)  # and the program is killed here
    assert run.go() == "The limit of 2 calls is reached."
    assert run.outcomes() == ["started", "answered"]
    assert Run(own_engine, study, script).go() is None
    assert len(run.verdicts()) == ITEMS


def test_a_verdict_is_stored_once_and_stays(own_engine: Engine, study: Study, script: Script) -> None:
    """A second run of the same machine is quicker about every item: what it stored stays, and is not doubled."""
    run = Run(own_engine, study, script)
    other = Run(own_engine, study, script)

    def first(handler: Any) -> None:
        script.always = says("NOT_INTERPRETABLE")
        assert other.go() is None
        says("INTERPRETABLE")(handler)

    script.steps = [first]
    run.go()
    assert run.verdicts() == ["NOT_INTERPRETABLE"] * ITEMS


def test_the_same_name_for_another_model_is_refused(own_engine: Engine, study: Study, script: Script) -> None:
    Run(own_engine, study, script, most_calls=1).go()
    with pytest.raises(Conflict, match="Give another --name"):
        Run(own_engine, study, script, model="another")
    assert Run(own_engine, study, script, model="another", name="the other").go() is None


def test_a_study_that_is_closed_meanwhile_takes_no_verdict(own_engine: Engine, study: Study, script: Script) -> None:
    run = Run(own_engine, study, script)

    def closing(handler: Any) -> None:
        with run.transactions() as session:
            session.get_one(Study, study.id).state = StudyState.CLOSED
        says("INTERPRETABLE")(handler)

    script.steps = [says("INTERPRETABLE"), closing]
    with pytest.raises(Conflict, match="is closed"):
        run.go()
    assert run.verdicts() == ["INTERPRETABLE"]
    assert run.outcomes() == [CallOutcome.ANSWERED] * 2  # it was made, and it cost
    with pytest.raises(Conflict, match="is closed"):
        Run(own_engine, study, script)


def test_what_it_gave_is_fixed_in_the_log(own_engine: Engine, study: Study, script: Script) -> None:
    run = Run(own_engine, study, script)
    run.go()
    with run.transactions() as session:
        events = session.scalars(select(Event).order_by(Event.line)).all()
        assert [event.what for event in events] == ["study created", "machine rater came in", "machine rater stopped"]
        assert events[-1].detail["verdicts"] == ITEMS
        assert events[-1].detail["digest"] == queries.verdicts_digest(session, run.machine)
        assert session.get_one(MachineRater, run.machine.id).finished_at is not None


# ---- the command --------------------------------------------------------------------------------


def test_the_command_rates_says_what_it_cost_and_goes_on(
    own_engine: Engine,
    study: Study,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GLANCE_DATABASE_URL", own_engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("GLANCE_MACHINE_KEY", KEY)
    get_settings.cache_clear()
    command = ["machine-rate", study.code, "--url", script.url, "--model", "m", "--price-in", "2", "--price-out", "10"]
    assert main([*command, "--calls", "4"]) == 1
    said = capsys.readouterr()
    assert "The limit of 4 calls is reached. The same command goes on from here." in said.err
    assert said.out.splitlines()[-1] == f"4 of {ITEMS} items have a verdict."
    assert main(command) == 0
    last = capsys.readouterr().out
    assert (
        f"Calls: {ITEMS} ({ITEMS} answered). Tokens: {1000 * ITEMS} read, {20 * ITEMS} written. Cost: 0.0132." in last
    )
    assert script.asked[0]["headers"]["Authorization"] == f"Bearer {KEY}"
    assert main(["machine-rate", study.code, "--url", "nowhere", "--model", "m"]) == 2
    assert "is no address" in capsys.readouterr().err
    get_settings.cache_clear()
