"""What a machine rater does in the database: it comes in, calls, gives verdicts, and stops. Each is one transaction."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock, log
from app.errors import Conflict, Invalid
from app.machines.asking import TEMPERATURE, Answer, instructions_digest
from app.machines.budget import Usage
from app.machines.endpoint import Reply
from app.machines.queries import summary, verdicts_digest
from app.models import MachineCall, MachineRater, MachineVerdict, Study, StudyState
from app.names import one_line

LONGEST_NAME = 100
LONGEST_MODEL = 200
LONGEST_DETAIL = 500
CLOSED = "The study “{name}” is {state}, so no verdict is taken any more."


def enter(session: Session, study: Study, *, name: str, model: str, endpoint: str, told: str) -> MachineRater:
    """The machine rater of this name, new or from an earlier run.

    Raises Conflict where the study takes no verdict, or the name stands for another model or other instructions.
    """
    require_open(session, study.id)
    name, model = one_line(name, LONGEST_NAME), one_line(model, LONGEST_MODEL)
    if not name or not model:
        raise Invalid("A machine rater needs a name and a model. Give --model.")
    settings: dict[str, Any] = {"instructions": instructions_digest(told), "temperature": TEMPERATURE}
    mine = select(MachineRater).where(MachineRater.study_id == study.id, MachineRater.name == name)
    known = session.scalars(mine).one_or_none()
    if known is not None:
        if (known.model, known.endpoint, known.settings) != (model, endpoint, settings):
            raise Conflict(
                f"The machine rater “{name}” is {known.model} at {known.endpoint}, and was told what this program may "
                "not tell any more. Give another --name, so that verdicts of two are not mixed."
            )
        return known
    machine = MachineRater(study_id=study.id, name=name, model=model, endpoint=endpoint, settings=settings)
    session.add(machine)
    session.flush()
    log.append(
        session, study.id, f"machine {machine.code}", "machine rater came in",
        name=name, model=model, instructions=settings["instructions"],
    )  # fmt: skip
    return machine


def start_call(session: Session, machine: MachineRater, item_id: int) -> MachineCall:
    """Written down before it is sent: a call that nobody lives to see the end of is counted too."""
    require_open(session, machine.study_id)
    call = MachineCall(machine_rater_id=machine.id, item_id=item_id)
    session.add(call)
    session.flush()
    return call


def end_call(session: Session, call_id: int, reply: Reply, seconds: float, usage: Usage, cost: float | None) -> None:
    """What came of a call. Written whether or not the study is still open: it was made, and it cost."""
    call = session.get_one(MachineCall, call_id)
    call.outcome, call.status, call.detail = reply.outcome, reply.status, reply.detail[:LONGEST_DETAIL]
    call.seconds, call.cost = seconds, cost
    call.prompt_tokens, call.completion_tokens = usage


def give(session: Session, machine_id: int, item_id: int, answer: Answer) -> bool:
    """Store a verdict. False where another run of the same machine stored one meanwhile, which stays as it is."""
    machine = session.get_one(MachineRater, machine_id, with_for_update=True)
    require_open(session, machine.study_id)
    mine = MachineVerdict.machine_rater_id == machine.id, MachineVerdict.item_id == item_id
    if session.scalars(select(MachineVerdict.id).where(*mine)).first() is not None:
        return False
    verdict, hypothesis = answer
    session.add(MachineVerdict(machine_rater_id=machine.id, item_id=item_id, verdict=verdict, hypothesis=hypothesis))
    return True


def finish(session: Session, machine_id: int) -> None:
    """The machine stops, done or not. What it gave by then is fixed in the study's log."""
    machine = session.get_one(MachineRater, machine_id, with_for_update=True)
    done = summary(session, machine)
    if done.verdicts == done.items:
        machine.finished_at = machine.finished_at or clock.now()
    log.append(
        session, machine.study_id, f"machine {machine.code}", "machine rater stopped",
        verdicts=done.verdicts, calls=done.calls, digest=verdicts_digest(session, machine),
    )  # fmt: skip


def require_open(session: Session, study_id: int) -> None:
    """Read with a lock that closing waits for: no verdict comes in behind it."""
    columns = select(Study.name, Study.state).where(Study.id == study_id).with_for_update(read=True, key_share=True)
    name, state = session.execute(columns).one()
    if state is not StudyState.OPEN:
        raise Conflict(CLOSED.format(name=name, state=state.value))
