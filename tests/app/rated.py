"""A study with verdicts, written row by row, for tests that must know every number beforehand."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from app.log import FIRST, append
from app.models import (
    Arm,
    Assignment,
    AssignmentState,
    Item,
    ItemContent,
    ItemKey,
    ItemKind,
    OpenedItem,
    Placement,
    Rater,
    RaterKind,
    Rating,
    RatingAction,
    Seat,
    Sitting,
    Study,
    StudyState,
    Verdict,
)
from app.reports.row_counts import count_rows
from app.reports.rows import read_rows
from app.reports.statistics.plan import Plan
from app.reports.tables import TABLES

START = datetime(2031, 3, 1, 9, 30, tzinfo=UTC)
FRESH = {"populate_existing": True}
LETTERS = {"I": Verdict.INTERPRETABLE, "N": Verdict.NOT_INTERPRETABLE, "C": Verdict.CANNOT_DECIDE}
_numbers = count(1)


def digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def counted_unlike_read(session: Session, study: Study) -> list[str]:
    """Tables that are said to have another number of rows than they have: none."""
    return [
        f"{name}: {counted} counted, {read} read"
        for name, table in TABLES.items()
        for counted, read in [(count_rows(session, study, table), len(read_rows(session, study, table)))]
        if counted != read
    ]


@dataclass
class Rated:
    """The study and what a test wants at hand."""

    study: Study
    arms: list[Arm]
    items: list[Item]
    raters: list[Rater]
    sittings: list[Sitting] = field(default_factory=list)


def blank_study(session: Session, name: str = "Winter", state: StudyState = StudyState.OPEN, **changes: Any) -> Study:
    """A study row without anything in it."""
    simulated = bool(changes.get("simulated", False))
    plan = plan_values(simulated)
    values: dict[str, Any] = {
        "design": {"neurons_per_arm": 4, "snippets": 20, "verdicts_per_neuron": 1, "overlap": 0, "seats": 2},
        "plan": plan, "plan_digest": digest(plan), "seal_root": digest("root", name), "sealed_parts": {},
        "sources": [{"name": "Sentences for tests", "licence": "Apache-2.0", "parts": ["prose-en"]}],
        "sealed_secret": b"sealed", "log_head": FIRST, "created_at": START,
    }  # fmt: skip
    study = Study(name=name, state=state, **values | changes)
    if state != StudyState.OPEN:
        study.closed_at = START + timedelta(days=1)
    session.add(study)
    session.flush()
    if state == StudyState.UNBLINDED:
        study.unblinded_at, study.unblinded_by = START + timedelta(days=2), "Ada"
        study.unblinding_reason, study.secret = "all verdicts are in", "5e" * 32
        study.opened = {"replaced": []}
    append(session, study.id, "Ada", "created", root=study.seal_root)
    return study


def plan_values(simulated: bool) -> dict[str, Any]:
    return Plan(baseline="gelu", resamples=400, simulated=simulated).as_dict()


def rated_study(
    session: Session,
    verdicts: Sequence[Sequence[str]] = ("INNC", "IIIN"),
    raters: int = 2,
    *,
    conditions: Sequence[str] = ("gelu", "solu_ln"),
    state: StudyState = StudyState.UNBLINDED,
    kind: RaterKind = RaterKind.HUMAN,
    **changes: Any,
) -> Rated:
    """A study with a neuron for each string of `verdicts[arm]`: its letters are verdicts of rater 1, 2, …

    A letter is I, N or C; a dot is no verdict. A neuron's one letter goes to the raters in turn.
    """
    study = blank_study(session, state=state, simulated=kind == RaterKind.SIMULATED, **changes)
    people = [make_rater(session, study, number, kind) for number in range(1, raters + 1)]
    rated = Rated(study, [], [], people, [make_sitting(session, rater) for rater in people])
    places = [count(1) for _ in people]
    for number, (condition, neurons) in enumerate(zip(conditions, verdicts, strict=True)):
        arm = make_arm(session, study, condition, number)
        rated.arms.append(arm)
        for index, letters in enumerate(neurons):
            item = make_item(session, study, arm, index, capacity=len(letters), opened=state == StudyState.UNBLINDED)
            rated.items.append(item)
            first = index if len(letters) == 1 else 0
            for place, letter in enumerate(letters):
                who = (first + place) % raters
                if letter != ".":
                    assignment = make_assignment(session, item, people[who], next(places[who]))
                    make_rating(session, assignment, rated.sittings[who], letter)
    session.flush()
    session.execute(
        select(Study).where(Study.id == study.id).options(selectinload(Study.arms)), execution_options=FRESH
    ).one()
    return rated


def make_arm(session: Session, study: Study, condition: str, number: int = 0, **changes: Any) -> Arm:
    values: dict[str, Any] = {
        "name": f"{condition}-{number}", "condition": condition, "size": 3_145_728, "seed": 0, "layers": 2,
        "hidden": 32, "validation_loss": 4.31 - 0.02 * number, "train_tokens": 2_000_000, "run_path": f"run-{number}",
        "run_digest": digest("run", number), "offer": ["." * 32] * 2,
    }  # fmt: skip
    arm = Arm(study_id=study.id, **values | changes)
    session.add(arm)
    session.flush()
    return arm


def make_item(
    session: Session,
    study: Study,
    arm: Arm,
    index: int,
    *,
    capacity: int = 1,
    kind: ItemKind = ItemKind.NEURON,
    repeat_of: Item | None = None,
    opened: bool = True,
) -> Item:
    item = Item(
        study_id=study.id, kind=kind, capacity=capacity, repeat_of=repeat_of.id if repeat_of else None,
        content_digest=digest("content", arm.id, index),
    )  # fmt: skip
    session.add(item)
    session.flush()
    fragment = f"<div class=snips><ol><li><p>text {index} <mark class=a15>peak</mark></ol></div>".encode()
    session.add(ItemContent(item_id=item.id, fragment=fragment, wide_fragment=fragment))
    session.add(ItemKey(item_id=item.id, sealed=b"sealed", leaf=digest("leaf", item.id)))
    if opened:
        session.add(
            OpenedItem(
                item_id=item.id, arm_id=arm.id, unit_kind="neuron", layer=index % 2, index=index, salt=digest(item.id)
            )
        )
    session.flush()
    return item


def make_rater(session: Session, study: Study, number: int, kind: RaterKind = RaterKind.HUMAN, **changes: Any) -> Rater:
    values: dict[str, Any] = {
        "name": f"Person {number}", "share": 4, "created_at": START, "consented_at": START + timedelta(minutes=1)
    }  # fmt: skip
    rater = Rater(study_id=study.id, kind=kind, **values | changes)
    session.add(rater)
    session.flush()
    session.add(Seat(study_id=study.id, number=number, share=4, rater_id=rater.id))
    session.flush()
    return rater


def make_sitting(session: Session, rater: Rater) -> Sitting:
    sitting = Sitting(
        rater_id=rater.id, started_at=START, last_seen_at=START + timedelta(minutes=20), active_seconds=1200.5
    )
    session.add(sitting)
    session.flush()
    return sitting


def make_assignment(session: Session, item: Item, rater: Rater, position: int) -> Assignment:
    seat = session.query(Seat).filter_by(rater_id=rater.id).one()
    session.add(
        Placement(seat_id=seat.id, item_id=item.id, position=position, unit_tag=digest("tag", item.id), kind=item.kind)
    )
    assignment = Assignment(
        item_id=item.id, rater_id=rater.id, position=position, state=AssignmentState.RATED, claimed_at=START,
        shown_at=START, leased_until=START + timedelta(minutes=30),
    )  # fmt: skip
    session.add(assignment)
    session.flush()
    return assignment


def make_rating(
    session: Session, assignment: Assignment, sitting: Sitting | None, letter: str, version: int = 1, **changes: Any
) -> Rating:
    """A version; the letter W withdraws."""
    number = next(_numbers)
    action = RatingAction.WITHDRAWN if letter == "W" else RatingAction.GIVEN if version == 1 else RatingAction.EDITED
    values: dict[str, Any] = {
        "verdict": LETTERS.get(letter), "action": action, "hypothesis": "", "idempotency_key": f"key-{number}",
        "at": START + timedelta(seconds=40 * assignment.position + version), "seconds": 40.0 + assignment.position,
    }  # fmt: skip
    rating = Rating(
        assignment_id=assignment.id, version=version, sitting_id=sitting.id if sitting else None, **values | changes
    )
    session.add(rating)
    session.flush()
    return rating


def all_cells(rows: Sequence[dict[str, Any]]) -> Iterator[Any]:
    for row in rows:
        yield from row.values()
