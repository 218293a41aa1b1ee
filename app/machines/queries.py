"""Reads for machine raters: what is left to ask about, the bytes of an item, and what was spent."""

import hashlib
from collections import Counter
from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session

from app.machines.budget import Spent
from app.models import CallOutcome, Item, ItemContent, MachineCall, MachineRater, MachineVerdict, Phase
from app.studies.seal import digest


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a machine rater has done so far."""

    items: int
    """Items that raters of the study judge."""
    verdicts: int
    calls: int
    outcomes: dict[str, int]
    """Calls by what came of them."""
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """Of the calls whose cost is known, None where none is."""

    @property
    def said(self) -> str:
        """The outcomes with their counts, as the export names them."""
        return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in self.outcomes.items()) or "none"


def left(session: Session, machine: MachineRater) -> list[int]:
    """The items without a verdict of this machine, in an order of its own that has nothing to do with the draw's."""
    given = exists().where(MachineVerdict.machine_rater_id == machine.id, MachineVerdict.item_id == Item.id)
    rows = session.execute(select(Item.id, Item.code).where(*_rated(machine.study_id), ~given))
    return [
        row.id for row in sorted(rows, key=lambda row: hashlib.sha256(f"{machine.code} {row.code}".encode()).digest())
    ]


def fragment_of(session: Session, item_id: int) -> bytes:
    """What a person is sent of the item when it comes up."""
    return session.scalars(select(ItemContent.fragment).where(ItemContent.item_id == item_id)).one()


def spent(session: Session, machine: MachineRater) -> Spent:
    cost = MachineCall.cost
    statement = select(func.count(), func.sum(cost), func.max(cost), func.count(cost)).where(_by(machine))
    calls, total, dearest, known = session.execute(statement).one()
    refused = _count(session, machine, CallOutcome.LIMITED, CallOutcome.FAILED)  # a server's error costs nothing
    return Spent(calls=calls, cost=total or 0.0, dearest=dearest or 0.0, unknown=max(0, calls - known - refused))


def summary(session: Session, machine: MachineRater) -> Summary:
    read, written, cost = MachineCall.prompt_tokens, MachineCall.completion_tokens, MachineCall.cost
    sums = session.execute(select(func.sum(read), func.sum(written), func.sum(cost)).where(_by(machine))).one()
    by_outcome = select(MachineCall.outcome, func.count()).where(_by(machine)).group_by(MachineCall.outcome)
    outcomes = Counter({outcome.value: count for outcome, count in session.execute(by_outcome)})
    verdicts = select(func.count()).where(MachineVerdict.machine_rater_id == machine.id)
    return Summary(
        items=session.scalars(select(func.count()).select_from(Item).where(*_rated(machine.study_id))).one(),
        verdicts=session.scalars(verdicts).one(),
        calls=outcomes.total(),
        outcomes=dict(sorted(outcomes.items())),
        prompt_tokens=sums[0] or 0,
        completion_tokens=sums[1] or 0,
        cost=sums[2],
    )


def verdicts_digest(session: Session, machine: MachineRater) -> str:
    """SHA-256 over the machine's verdicts, so that the log fixes them."""
    columns = select(Item.code, MachineVerdict.verdict, MachineVerdict.hypothesis, MachineVerdict.at)
    mine = columns.join(Item, Item.id == MachineVerdict.item_id).where(MachineVerdict.machine_rater_id == machine.id)
    rows = [
        [code, verdict, text, at.isoformat()] for code, verdict, text, at in session.execute(mine.order_by(Item.code))
    ]
    return digest(rows)


def _by(machine: MachineRater) -> ColumnElement[bool]:
    return MachineCall.machine_rater_id == machine.id


def _rated(study_id: int) -> tuple[ColumnElement[bool], ...]:
    return Item.study_id == study_id, Item.phase == Phase.RATING


def _count(session: Session, machine: MachineRater, *outcomes: CallOutcome) -> int:
    some = select(func.count()).where(_by(machine), MachineCall.outcome.in_(outcomes))
    return session.scalars(some).one()
