"""One run of a machine rater, as the command makes it."""

from functools import partial
from typing import Any

from sqlalchemy import Engine, select

from app.machines import actions, queries
from app.machines.asking import instructions
from app.machines.budget import Budget
from app.machines.endpoint import endpoint
from app.machines.rating import Work, rate_everything
from app.models import MachineCall, MachineVerdict, Study
from app.store.db import transaction
from tests.app.endpoint import Script

KEY = "sk-a-key-that-must-stay-secret"
ITEMS = 6


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
