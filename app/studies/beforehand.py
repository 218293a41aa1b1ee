"""What takes long about unblinding, done where it holds nobody up: opening items, measuring, reading what was said."""

import hashlib
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Item, ItemKey, Study, StudyState
from app.settings import Settings
from app.studies.opening import Opened, open_study
from app.studies.records import record_of
from app.studies.seal import Record
from app.studies.serving import serving_seconds
from app.studies.so_far import SoFar, read


class Look(NamedTuple):
    """A study as it was when it was opened in memory."""

    opened: Opened
    seconds: dict[int, float]
    """How long each item takes to serve; of a study that is closed."""
    record: Record
    """What was sealed, as the tables said it."""
    keys: str
    """SHA-256 over every item's row and what was sealed of it."""
    so_far: SoFar
    """What the log and the raters had said."""


def look(session: Session, settings: Settings, study: Study) -> Look:
    """Only reads. Raises Refused where the key file does not open the study."""
    record, keys = record_of(session, study), _keys(session, study)
    opened = open_study(session, settings, study)
    seconds = serving_seconds(session, opened.items) if study.state is StudyState.CLOSED else {}
    return Look(opened, seconds, record, keys, read(session, study))


def still_holds(session: Session, study: Study, before: Look) -> bool:
    """Nothing that was sealed has another row than when it was looked at. The items' bytes are not read again."""
    return before.record == record_of(session, study) and before.keys == _keys(session, study)


def _keys(session: Session, study: Study) -> str:
    statement = (
        select(Item.id, Item.code, Item.kind, Item.capacity, ItemKey.sealed, Study.sealed_secret)
        .join(ItemKey, ItemKey.item_id == Item.id)
        .join(Study, Study.id == Item.study_id)
        .where(Item.study_id == study.id)
        .order_by(Item.id)
    )
    every = hashlib.sha256()
    for number, code, kind, capacity, sealed, secret in session.execute(statement):
        every.update(f"{number} {code} {kind.value} {capacity} {sealed.hex()} {secret.hex()}\n".encode())
    return every.hexdigest()
