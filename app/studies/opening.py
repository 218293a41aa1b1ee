"""Opening what was sealed: decrypting it, and finding every fault before anything is believed."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.key import decrypt, load_key
from app.models import Item, ItemContent, ItemKey, Study
from app.settings import Settings
from app.studies.creating import item_context, secret_context
from app.studies.design import Design
from app.studies.draw import Replaced, draw
from app.studies.importing import LETTERS
from app.studies.records import record_of
from app.studies.seal import broken_by, content_digest, leaf
from app.words.language import N_
from app.words.said import Said

NOT_SEALED = N_("Item %(code)s is not the one that was sealed.")
STATES = {letter: state for state, letter in LETTERS.items()}


@dataclass(frozen=True)
class Opened:
    """The key of a study in memory. It is written down only by the act of unblinding."""

    secret: bytes
    items: dict[int, dict[str, Any]]
    """What every item is, by the row's number."""
    replaced: list[dict[str, Any]]
    """Neurons that were drawn and could not be shown."""
    faults: list[str]
    """What contradicts the seal; empty when nothing does."""


def open_study(session: Session, settings: Settings, study: Study) -> Opened:
    """Decrypt the allocation and check it. Raises Refused where the key file does not open it."""
    key = load_key(settings.key_file)
    secret = bytes.fromhex(decrypt(key, study.sealed_secret, secret_context(study.code)).decode())
    record = record_of(session, study)
    items, faults = _items(session, study, key)
    faults += [*_changed_contents(session, study), *broken_by(secret, record)]
    names = [arm["name"] for arm in record.arms]
    return Opened(secret, items, _replaced(secret, study, [arm["offer"] for arm in record.arms], names), faults)


def open_item(session: Session, settings: Settings, study: Study, item: Item) -> dict[str, Any]:
    """What one item is, and nothing of the others. Raises Conflict where it is not what was sealed."""
    sealed = session.get_one(ItemKey, item.id)
    key = load_key(settings.key_file)
    opened: dict[str, Any] = json.loads(decrypt(key, sealed.sealed, item_context(study.code, item.code)))
    if opened["code"] != item.code or leaf(opened) != sealed.leaf:
        raise Conflict(NOT_SEALED, code=item.code)
    return opened


def _items(session: Session, study: Study, key: bytes) -> tuple[dict[int, dict[str, Any]], list[str]]:
    statement = select(Item, ItemKey).join(ItemKey, ItemKey.item_id == Item.id).where(Item.study_id == study.id)
    items: dict[int, dict[str, Any]] = {}
    faults: list[str] = []
    for item, sealed in session.execute(statement):
        opened = json.loads(decrypt(key, sealed.sealed, item_context(study.code, item.code)))
        items[item.id] = opened
        same = (opened["code"], opened["kind"], opened["capacity"]) == (item.code, item.kind.value, item.capacity)
        if not same or leaf(opened) != sealed.leaf:
            faults.append(Said(NOT_SEALED, code=item.code))
    return items, faults


def _changed_contents(session: Session, study: Study) -> list[str]:
    """Items whose bytes, as raters get them, are not the ones whose digest was sealed."""
    statement = (
        select(Item.code, Item.content_digest, ItemContent.fragment, ItemContent.wide_fragment)
        .join(ItemContent, ItemContent.item_id == Item.id)
        .where(Item.study_id == study.id)
        .execution_options(yield_per=50)
    )
    return [
        Said(N_("What raters saw of item %(code)s is not what was sealed."), code=code)
        for code, expected, narrow, wide in session.execute(statement)
        if content_digest(narrow, wide) != expected
    ]


def _replaced(secret: bytes, study: Study, offers: list[list[str]], names: list[str]) -> list[dict[str, Any]]:
    def row(one: Replaced) -> dict[str, Any]:
        return {"arm": names[one.arm], "layer": one.layer, "neuron": one.number, "why": STATES[one.why]}

    return [row(one) for one in draw(secret, Design.of(study.design), offers).replaced]
