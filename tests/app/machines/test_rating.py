"""A machine rater at work: what it is asked and what is kept."""

import json
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from app.cli import main
from app.errors import Conflict
from app.machines import queries
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
from app.settings import get_settings
from app.store.db import transaction
from tests.app.endpoint import Script, reply, says
from tests.app.machines.running import ITEMS, KEY, Run


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
