"""A machine rater at work: item after item, each asked about until there is an answer or it has been tried enough.

Nothing is held while the endpoint thinks: each step is a transaction of its own, so a kill loses one call at most.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from app.machines import actions, queries
from app.machines.asking import Answer, Declined, NoAnswer, read_answer, request_body, usage_of
from app.machines.budget import Budget, why_no_more
from app.machines.endpoint import WRONG, Endpoint, Reply, ask
from app.machines.reading import as_text
from app.models import CallOutcome, MachineRater
from app.store.db import OpenTransaction

TRIES = 5
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 120.0
NOT_AT_WORK = {CallOutcome.LIMITED, CallOutcome.FAILED, CallOutcome.TIMED_OUT, CallOutcome.DISCONNECTED}
GIVE_UP_AFTER = 3
"""After so many items in a row that an endpoint was not at work for, the rest would be tried in vain."""


class Stopped(Exception):
    """No further call is made; the sentence says why."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a run needs."""

    machine: MachineRater
    endpoint: Endpoint
    told: str
    budget: Budget
    tries: int = TRIES
    pause: Callable[[float], None] = time.sleep


def rate_everything(transactions: OpenTransaction, work: Work, done: Callable[[bool], None]) -> str | None:
    """Ask about every item that is left. Returns why it stopped early: a sentence, or None where every item was asked.

    `done` is told after each item whether it has a verdict now. Raises Conflict once the study takes no verdict.
    """
    with transactions() as session:
        items = queries.left(session, work.machine)
    in_vain = 0
    try:
        for item_id in items:
            last = _rate(transactions, work, item_id)
            done(last.outcome is CallOutcome.ANSWERED)
            in_vain = in_vain + 1 if last.outcome in NOT_AT_WORK else 0
            if in_vain == GIVE_UP_AFTER:
                return f"{GIVE_UP_AFTER} items in a row had no answer. The last: {last.detail}"
    except Stopped as why:
        return str(why)
    finally:
        with transactions() as session:
            actions.finish(session, work.machine.id)
    return None


def pause_seconds(number: int, retry_after_seconds: float | None, chance: float) -> float:
    """How long to wait after the try of this number, from 0: what the server asks for, or ever longer, spread."""
    growing = FIRST_PAUSE_SECONDS * 2.0**number * (0.5 + chance)
    return min(max(growing, retry_after_seconds or 0.0), LONGEST_PAUSE_SECONDS)


def _rate(transactions: OpenTransaction, work: Work, item_id: int) -> Reply:
    """Ask about one item until there is a verdict. Returns the last reply."""
    for number in range(work.tries):
        reply, answer = _call(transactions, work, item_id)
        if answer is not None:
            with transactions() as session:
                actions.give(session, work.machine.id, item_id, answer)
        if answer is not None or reply.outcome is CallOutcome.REFUSED or number + 1 == work.tries:
            break
        work.pause(pause_seconds(number, reply.retry_after_seconds, random.random()))  # noqa: S311  # no secret
    return reply


def _call(transactions: OpenTransaction, work: Work, item_id: int) -> tuple[Reply, Answer | None]:
    """One call, written down before and after. Raises Stopped where it may not be made or no other try would help."""
    with transactions() as session:
        if why := why_no_more(work.budget, queries.spent(session, work.machine)):
            raise Stopped(why)
        call_id = actions.start_call(session, work.machine, item_id).id
        snippets = as_text(queries.fragment_of(session, item_id))
    started = time.monotonic()
    reply = ask(work.endpoint, request_body(work.machine.model, work.told, snippets))
    seconds, usage = time.monotonic() - started, usage_of(reply.content)
    reply, answer = _read(reply)
    with transactions() as session:
        actions.end_call(session, call_id, reply, seconds, usage, work.budget.cost(usage))
    if reply.status in WRONG:
        raise Stopped(f"The endpoint refuses the request, and would again. {reply.detail}")
    return reply, answer


def _read(reply: Reply) -> tuple[Reply, Answer | None]:
    """The answer in a reply, or the reply with what is wrong with it."""
    if reply.outcome is not CallOutcome.ANSWERED:
        return reply, None
    try:
        return reply, read_answer(reply.content)
    except Declined as why:
        return reply._replace(outcome=CallOutcome.REFUSED, detail=str(why)), None
    except NoAnswer as why:
        return reply._replace(outcome=CallOutcome.MALFORMED, detail=str(why)), None
