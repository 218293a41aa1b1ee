"""The rows of every table of an export, in the order of its columns. Reads only."""

import json
from collections.abc import Callable, Iterator

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from app.machines.verdicts import said_by_machines
from app.models import (
    Arm,
    Assignment,
    CheckAnswer,
    Event,
    Guess,
    Item,
    ItemKey,
    Lesson,
    MachineCall,
    MachineRater,
    OpenedItem,
    Placement,
    PracticeAnswer,
    Rater,
    Rating,
    RatingAction,
    Seat,
    Sitting,
    Study,
)
from app.phases.actions import UNKNOWN
from app.reports.formats import Cell, Row
from app.reports.names import letter
from app.reports.standing import last_versions, raters_in_order, standing_by
from app.reports.table import Table
from app.studies.checking import bands
from app.studies.early import opened_early
from app.studies.plans import amendments, changed
from app.studies.seal import leaf as leaf_of


def read_rows(session: Session, study: Study, table: Table) -> list[Row]:
    """The table's rows, with only the columns that `table` shows."""
    return [tuple(row[column.name] for column in table.columns) for row in READERS[table.name](session, study)]


# Every reader gives its cells by name, so that a table cut to the study's state takes what it may show.
Cells = dict[str, Cell]


def _progress(session: Session, study: Study) -> Iterator[Cells]:
    done = standing_by(Assignment.rater_id.expression, study)
    stays = (
        select(
            Sitting.rater_id,
            func.count().label("n"),
            func.sum(Sitting.active_seconds).label("active"),
            func.max(Sitting.last_seen_at).label("seen"),
        )
        .join(Rater, Rater.id == Sitting.rater_id)
        .where(Rater.study_id == study.id)
        .group_by(Sitting.rater_id)
        .subquery()
    )
    statement = (
        select(Rater, done.c.n, stays.c.n, stays.c.active, stays.c.seen)
        .outerjoin(done, done.c.id == Rater.id)
        .outerjoin(stays, stays.c.rater_id == Rater.id)
        .where(Rater.study_id == study.id)
        .order_by(Rater.id)
    )
    for rater, n, sittings, active, seen in session.execute(statement):
        yield {
            "rater": rater.code, "name": rater.name, "kind": rater.kind.value, "done": n or 0, "share": rater.share,
            "sittings": sittings or 0, "active_seconds": active or 0.0, "last_seen_at": seen,
        }  # fmt: skip


def _ratings(session: Session, study: Study) -> Iterator[Cells]:
    last = last_versions(study)
    statement = (
        select(Rating, Assignment, Rater, Item, Sitting.code, OpenedItem, Arm, last.c.version)
        .join(Assignment, Assignment.id == Rating.assignment_id)
        .join(last, last.c.assignment_id == Rating.assignment_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .join(Item, Item.id == Assignment.item_id)
        .outerjoin(Sitting, Sitting.id == Rating.sitting_id)
        .outerjoin(OpenedItem, OpenedItem.item_id == Item.id)
        .outerjoin(Arm, Arm.id == OpenedItem.arm_id)
        .where(Item.study_id == study.id)
        .order_by(Rater.code, Assignment.position, Rating.version)
    )
    for rating, assignment, rater, item, sitting, opened, arm, newest in session.execute(statement):
        yield {
            "item": item.code, "rater": rater.code, "rater_kind": rater.kind.value,
            "position": assignment.position, "version": rating.version,
            "current": rating.version == newest and rating.action != RatingAction.WITHDRAWN,
            "action": rating.action.value, "verdict": rating.verdict.value if rating.verdict else None,
            "hypothesis": rating.hypothesis, "at": rating.at, "seconds": rating.seconds, "sitting": sitting,
            "lined_up": rating.lined_up, "widened": rating.widened, "late": rating.late, "surplus": rating.surplus,
            "kind": item.kind.value, **_unit(opened, arm),
        }  # fmt: skip


def _unit(opened: OpenedItem | None, arm: Arm | None) -> Cells:
    """What is known of an item's unit once the study is unblinded."""
    if opened is None or arm is None:
        return dict.fromkeys(("arm", "condition", "size", "model_seed", "unit_kind", "layer", "neuron", "salt"))
    return {
        "arm": arm.name, "condition": arm.condition, "size": arm.size, "model_seed": arm.seed,
        "unit_kind": opened.unit_kind, "layer": opened.layer, "neuron": opened.index, "salt": opened.salt,
    }  # fmt: skip


def _items(session: Session, study: Study) -> Iterator[Cells]:
    done, repeated = standing_by(Assignment.item_id.expression, study), aliased(Item)
    statement = (
        select(Item, ItemKey.leaf, repeated.code, OpenedItem, Arm, done.c.n)
        .outerjoin(ItemKey, ItemKey.item_id == Item.id)
        .outerjoin(repeated, repeated.id == Item.repeat_of)
        .outerjoin(OpenedItem, OpenedItem.item_id == Item.id)
        .outerjoin(Arm, Arm.id == OpenedItem.arm_id)
        .outerjoin(done, done.c.id == Item.id)
        .where(Item.study_id == study.id)
        .order_by(Item.code)  # never by id: that would be the order of the draw
    )
    for item, leaf, repeat_of, opened, arm, n in session.execute(statement):
        yield {
            "item": item.code, "capacity": item.capacity, "verdicts": n or 0, "kind": item.kind.value,
            "phase": item.phase.value, "repeat_of": repeat_of, "content_digest": item.content_digest, "leaf": leaf,
            **_unit(opened, arm),
        }  # fmt: skip


def _raters(session: Session, study: Study) -> Iterator[Cells]:
    done = standing_by(Assignment.rater_id.expression, study)
    counts: dict[int, int] = dict(session.execute(select(done.c.id, done.c.n)).all())
    for number, (rater, seat) in enumerate(raters_in_order(session, study)):
        yield {
            "rater": rater.code, "letter": letter(number), "name": rater.name, "kind": rater.kind.value, "seat": seat,
            "share": rater.share, "verdicts": counts.get(rater.id, 0), "created_at": rater.created_at,
            "consented_at": rater.consented_at, "trained_at": rater.trained_at, "finished_at": rater.finished_at,
            "deactivated_at": rater.deactivated_at, "withdrawn_at": rater.withdrawn_at,
            "phase": rater.phase.value,
        }  # fmt: skip


def _sittings(session: Session, study: Study) -> Iterator[Cells]:
    statement = (
        select(Sitting, Rater.code)
        .join(Rater, Rater.id == Sitting.rater_id)
        .where(Rater.study_id == study.id)
        .order_by(Rater.code, Sitting.started_at, Sitting.id)
    )
    for sitting, rater in session.execute(statement):
        yield {
            "sitting": sitting.code, "rater": rater, "started_at": sitting.started_at,
            "last_seen_at": sitting.last_seen_at, "active_seconds": sitting.active_seconds,
            "ended_at": sitting.ended_at, "ended_by": sitting.ended_by, "paused": sitting.paused,
            "unrested_seconds": sitting.unrested_seconds, "break_offered_at": sitting.break_offered_at,
        }  # fmt: skip


def _practice(session: Session, study: Study) -> Iterator[Cells]:
    statement = (
        select(PracticeAnswer, Rater.code, Item.code, Lesson.verdict)
        .join(Rater, Rater.id == PracticeAnswer.rater_id)
        .join(Item, Item.id == PracticeAnswer.item_id)
        .join(Lesson, Lesson.item_id == Item.id)
        .where(Rater.study_id == study.id)
        .order_by(Rater.code, PracticeAnswer.at, Item.code)
    )
    for one, rater, item, answer in session.execute(statement):
        yield {
            "rater": rater, "item": item, "verdict": one.verdict.value, "answer": answer.value,
            "hypothesis": one.hypothesis, "at": one.at, "seconds": one.seconds, "read_at": one.read_at,
        }  # fmt: skip


def _checks(session: Session, study: Study) -> Iterator[Cells]:
    about = aliased(Item)
    statement = (
        select(CheckAnswer, Rater.code, Item.code, about.code, OpenedItem, Arm)
        .join(Rater, Rater.id == CheckAnswer.rater_id)
        .join(Item, Item.id == CheckAnswer.item_id)
        .join(about, about.id == Item.repeat_of)
        .outerjoin(OpenedItem, OpenedItem.item_id == Item.id)
        .outerjoin(Arm, Arm.id == OpenedItem.arm_id)
        .where(Rater.study_id == study.id)
        .order_by(Rater.code, CheckAnswer.at, Item.code)
    )
    for one, rater, item, neuron, opened, arm in session.execute(statement):
        yield {
            "rater": rater, "item": item, "about": neuron, "fires": " ".join(map(str, one.fires)), "at": one.at,
            "seconds": one.seconds, "bands": " ".join(map(str, bands_shown(opened))),
            "arm": arm.name if arm else None, "condition": arm.condition if arm else None,
        }  # fmt: skip


def bands_shown(opened: OpenedItem | None) -> list[int]:
    """The band of each held-out snippet in the order raters saw them; empty while that is sealed."""
    if opened is None or opened.order is None:
        return []
    drawn = bands(len(opened.order))
    return [drawn[at] for at in opened.order]


def _guesses(session: Session, study: Study) -> Iterator[Cells]:
    statement = (
        select(Guess, Rater.code, Item.code, Arm)
        .join(Rater, Rater.id == Guess.rater_id)
        .join(Item, Item.id == Guess.item_id)
        .outerjoin(OpenedItem, OpenedItem.item_id == Item.id)
        .outerjoin(Arm, Arm.id == OpenedItem.arm_id)
        .where(Rater.study_id == study.id)
        .order_by(Rater.code, Guess.at, Item.code)
    )
    for one, rater, item, arm in session.execute(statement):
        yield {
            "rater": rater, "item": item, "guess": one.condition or UNKNOWN, "at": one.at, "seconds": one.seconds,
            "arm": arm.name if arm else None, "condition": arm.condition if arm else None,
        }  # fmt: skip


def _arms(session: Session, study: Study) -> Iterator[Cells]:
    for arm in session.scalars(select(Arm).where(Arm.study_id == study.id).order_by(Arm.id)):
        yield {
            "arm": arm.name, "condition": arm.condition, "size": arm.size, "model_seed": arm.seed,
            "layers": arm.layers, "hidden": arm.hidden, "validation_loss": arm.validation_loss,
            "train_tokens": arm.train_tokens, "run_digest": arm.run_digest,
        }  # fmt: skip


def _placements(session: Session, study: Study) -> Iterator[Cells]:
    statement = (
        select(Seat.number, Placement, Item.code)
        .join(Placement, Placement.seat_id == Seat.id)
        .join(Item, Item.id == Placement.item_id)
        .where(Seat.study_id == study.id)
        .order_by(Seat.number, Placement.position)
    )
    for seat, placement, item in session.execute(statement):
        yield {
            "seat": seat, "position": placement.position, "item": item,
            "kind": placement.kind.value, "unit_tag": placement.unit_tag,
        }  # fmt: skip


def _events(session: Session, study: Study) -> Iterator[Cells]:
    for event in session.scalars(select(Event).where(Event.study_id == study.id).order_by(Event.line)):
        yield {
            "line": event.line, "at": event.at, "actor": event.actor, "what": event.what,
            "detail": _as_json(event.detail),
            "previous": event.previous, "hash": event.hash,
        }  # fmt: skip


def _machine_verdicts(session: Session, study: Study) -> Iterator[Cells]:
    for said in said_by_machines(session, study):
        rules = said.rules.items if said.rules else {}
        for item, verdict in sorted(said.verdicts.items()):
            rule = rules.get(item, {})
            yield {
                "rater": said.code, "name": said.name, "rater_kind": "machine", "model": said.model, "item": item,
                "verdict": verdict, "hypothesis": said.hypotheses.get(item, ""), "rule": rule.get("rule", ""),
                "covered": rule.get("covered"), "base_rate": rule.get("base_rate"),
            }  # fmt: skip


def _machine_calls(session: Session, study: Study) -> Iterator[Cells]:
    statement = (
        select(MachineCall, MachineRater.code, Item.code)
        .join(MachineRater, MachineRater.id == MachineCall.machine_rater_id)
        .join(Item, Item.id == MachineCall.item_id)
        .where(MachineRater.study_id == study.id)
        .order_by(MachineRater.code, MachineCall.at, MachineCall.id)
    )
    for call, rater, item in session.execute(statement):
        yield {
            "rater": rater, "item": item, "at": call.at, "outcome": call.outcome.value, "status": call.status,
            "seconds": call.seconds, "prompt_tokens": call.prompt_tokens, "completion_tokens": call.completion_tokens,
            "cost": call.cost, "detail": call.detail,
        }  # fmt: skip


def _amendments(session: Session, study: Study) -> Iterator[Cells]:
    made = amendments(session, study)
    before = [study.plan, *(one.plan for one in made)]
    for one, earlier in zip(made, before, strict=False):
        yield {
            "number": one.number, "at": one.at, "plan_digest": one.plan_digest, "verdicts": one.verdicts,
            "actor": one.actor, "reason": one.reason, "changes": _as_json(changed(earlier, one.plan)),
            "plan": _as_json(one.plan),
        }  # fmt: skip


def _opened_early(session: Session, study: Study) -> Iterator[Cells]:
    arms = session.scalars(select(Arm).where(Arm.study_id == study.id).order_by(Arm.id)).all()
    for opening, code in opened_early(session, study):
        key, arm = opening.key, arms[opening.key["arm"]]
        yield {
            "item": code, "at": opening.at, "actor": opening.actor, "reason": opening.reason, "arm": arm.name,
            "condition": arm.condition, "kind": key["kind"], "layer": key["layer"], "neuron": key["number"],
            "leaf": leaf_of(key),
        }  # fmt: skip


def _as_json(thing: object) -> str:
    return json.dumps(thing, ensure_ascii=False, sort_keys=True)


READERS: dict[str, Callable[[Session, Study], Iterator[Cells]]] = {
    "progress": _progress, "ratings": _ratings, "items": _items, "raters": _raters, "sittings": _sittings,
    "practice": _practice, "checks": _checks, "guesses": _guesses,
    "arms": _arms, "placements": _placements, "machine_verdicts": _machine_verdicts,
    "machine_calls": _machine_calls, "amendments": _amendments, "opened_early": _opened_early, "events": _events,
}  # fmt: skip
