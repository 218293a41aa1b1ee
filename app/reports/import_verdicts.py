"""The verdicts of an export, version by version, brought back to the items they are about."""

from collections import Counter
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict, Invalid
from app.models import Assignment, AssignmentState, Item, Rater, Rating, RatingAction, Sitting, Study, Verdict
from app.reports.import_codes import choice_of, id_of, ids_of
from app.reports.reading import Cells, refuse_empty

NEEDED = ("item", "rater", "position", "version", "action", "at", "seconds", "lined_up", "widened", "late", "surplus")


class Key(NamedTuple):
    """A rater and an item."""

    rater: str
    item: str


class Said(NamedTuple):
    """What makes a version the same in the export and here."""

    action: str
    verdict: str | None
    hypothesis: str
    at: object


def import_verdicts(session: Session, study: Study, rows: list[Cells]) -> int:
    """How many versions were brought back. Raises Conflict where the study has others already."""
    refuse_empty(rows, NEEDED, "ratings")
    raters, items = ids_of(session, Rater, study), ids_of(session, Item, study)
    known, sittings = _known(session, study), _sittings(session, study)
    new = 0
    for key, versions in _by_assignment(rows).items():
        rater, item = id_of(raters, key.rater, "rater"), id_of(items, key.item, "item")
        if key not in known:
            session.add_all(_ratings(versions, _assignment(session, rater, item, versions), sittings))
            new += len(versions)
        elif known[key] != [_said(row) for row in versions]:
            raise Conflict(f"Rater {key.rater} has other verdicts on item {key.item} than the ones in the export.")
    session.flush()
    _refuse_overfull(session, study)
    return new


def _by_assignment(rows: list[Cells]) -> dict[Key, list[Cells]]:
    found: dict[Key, list[Cells]] = {}
    for row in sorted(rows, key=lambda row: (row["rater"], row["position"], row["version"])):
        found.setdefault(Key(row["rater"], row["item"]), []).append(row)
    for key, versions in found.items():
        numbers = [row["version"] for row in versions]
        if numbers != list(range(1, len(versions) + 1)):
            raise Invalid(
                f"The versions of the verdict of rater {key.rater} on item {key.item} are "
                f"{', '.join(map(str, numbers))}; they must count from 1 without a gap."
            )
    return found


def _known(session: Session, study: Study) -> dict[Key, list[Said]]:
    statement = (
        select(Rating, Rater.code, Item.code)
        .join(Assignment, Assignment.id == Rating.assignment_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .join(Item, Item.id == Assignment.item_id)
        .where(Item.study_id == study.id)
        .order_by(Rating.version)
    )
    found: dict[Key, list[Said]] = {}
    for rating, rater, item in session.execute(statement):
        verdict = rating.verdict.value if rating.verdict else None
        said = Said(rating.action.value, verdict, rating.hypothesis, rating.at)
        found.setdefault(Key(rater, item), []).append(said)
    return found


def _said(row: Cells) -> Said:
    return Said(row["action"], row["verdict"] or None, row["hypothesis"] or "", row["at"])


def _sittings(session: Session, study: Study) -> dict[str, int]:
    statement = select(Sitting.code, Sitting.id).join(Rater, Rater.id == Sitting.rater_id)
    return dict(session.execute(statement.where(Rater.study_id == study.id)).all())


def _assignment(session: Session, rater: int, item: int, versions: list[Cells]) -> Assignment:
    first, last = versions[0], versions[-1]
    same_place = (Assignment.item_id == item) | (Assignment.position == first["position"])
    if session.scalars(select(Assignment.id).where(Assignment.rater_id == rater, same_place)).first() is not None:
        raise Conflict(
            f"Rater {first['rater']} holds item {first['item']} already, or another one in its place, "
            f"number {first['position']}."
        )
    shown_at = first["at"] - timedelta(seconds=first["seconds"])
    assignment = Assignment(
        rater_id=rater, item_id=item, position=first["position"], claimed_at=shown_at, shown_at=shown_at,
        leased_until=last["at"], state=_state(last),
    )  # fmt: skip
    session.add(assignment)
    session.flush()
    return assignment


def _state(last: Cells) -> AssignmentState:
    if last["action"] == RatingAction.WITHDRAWN:
        return AssignmentState.RELEASED
    return AssignmentState.SURPLUS if last["surplus"] else AssignmentState.RATED


def _ratings(versions: list[Cells], assignment: Assignment, sittings: dict[str, int]) -> list[Rating]:
    copied = ("version", "at", "seconds", "lined_up", "widened", "late", "surplus")
    return [
        Rating(
            assignment_id=assignment.id,
            action=choice_of(RatingAction, row["action"], "ratings"),
            verdict=choice_of(Verdict, row["verdict"], "ratings") if row["verdict"] else None,
            hypothesis=row["hypothesis"] or "",
            sitting_id=id_of(sittings, row["sitting"], "sitting") if row["sitting"] else None,
            idempotency_key=f"import-{assignment.code}-{row['version']}",
            **{name: row[name] for name in copied},
        )
        for row in versions
    ]


def _refuse_overfull(session: Session, study: Study) -> None:
    statement = (
        select(Item.code, Item.capacity)
        .join(Assignment, Assignment.item_id == Item.id)
        .where(Item.study_id == study.id, Assignment.state == AssignmentState.RATED)
    )
    counts = Counter((code, capacity) for code, capacity in session.execute(statement))
    for (code, capacity), n in sorted(counts.items()):
        if n > capacity:
            raise Conflict(f"Item {code} would have {n} verdicts, and it was to have {capacity}.")
