"""Limits of calls and of money count earlier runs and are not gone over."""

from sqlalchemy import Engine

from app.machines import actions, queries
from app.models import Study
from tests.app.endpoint import Script
from tests.app.machines.running import ITEMS, Run


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
