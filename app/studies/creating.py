"""Writing a frozen study down: its tables hold the items, and, encrypted, which neuron each of them is."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from app import log
from app.errors import Conflict, Invalid
from app.key import create_key, decrypt, encrypt, load_key, padded
from app.models import (
    Arm,
    Item,
    ItemContent,
    ItemKey,
    ItemKind,
    Lesson,
    Phase,
    Placement,
    Seat,
    Study,
    Verdict,
)
from app.models.base import new_code
from app.names import one_line
from app.settings import Settings
from app.studies.draw import DrawnItem
from app.studies.earlier import earlier
from app.studies.freezing import Frozen
from app.studies.rules import seal_rules
from app.studies.seal import canonical, digest, item_key
from app.words.language import N_

SECRET_BYTES = 32
LONGEST_NAME = 200


def new_secret() -> bytes:
    """The secret of a draw: from the system's own source, never typed, seen or exported by anybody."""
    return secrets.token_bytes(SECRET_BYTES)


def create_study(
    session: Session, settings: Settings, *, name: str, frozen: Frozen, actor: str, pilot: bool = False
) -> Study:
    """Write the study down, sealed and open for raters."""
    name = check_name(session, name)
    key = sealing_key(session, settings)
    study = _study(name, frozen, key, pilot)
    session.add(study)
    session.flush()
    session.add_all(_arm(study.id, arm, sealed) for arm, sealed in zip(frozen.arms, frozen.record.arms, strict=True))
    items = _write_items(session, study, frozen, key)
    _write_seats(session, study.id, frozen, items)
    rules = seal_rules(session, study, frozen)
    runs = sorted(arm.info.digest for arm in frozen.arms)
    before = earlier(session, runs)
    log.append(
        session, study.id, actor, "study created",
        seal=study.seal_root, plan=study.plan_digest, design=digest(study.design), items=len(items), runs=runs,
        **({"rules": rules} if rules else {}), **({"drafts": before} if before else {}),
        **({"pilot": True} if pilot else {}),
    )  # fmt: skip
    return study


def check_name(session: Session, name: str) -> str:
    """The name as it is kept. Raises Invalid where there is none, and Conflict where another study has it."""
    name = one_line(name, LONGEST_NAME)
    if not name:
        raise Invalid(N_("A study needs a name. Type one."))
    if session.scalars(select(Study.id).where(Study.name == name)).first() is not None:
        raise Conflict(N_("There is already a study named “%(name)s”. Choose another name."), name=name)
    return name


def sealing_key(session: Session, settings: Settings) -> bytes:
    """The key of all studies. Made with the first one; afterwards it must be there, and be the same."""
    newest = session.execute(select(Study.code, Study.sealed_secret).order_by(Study.id.desc()).limit(1)).first()
    if newest is None and not settings.key_file.exists():
        with suppress(FileExistsError):  # another first study was quicker
            return create_key(settings.key_file)
    key = load_key(settings.key_file)
    if newest is not None:
        decrypt(key, newest.sealed_secret, secret_context(newest.code))
    return key


def secret_context(study_code: str) -> str:
    return f"secret {study_code}"


def item_context(study_code: str, item_code: str) -> str:
    return f"item {study_code} {item_code}"


def _study(name: str, frozen: Frozen, key: bytes, pilot: bool) -> Study:
    code, record = new_code(), frozen.record
    return Study(
        code=code, name=name, simulated=frozen.simulated, pilot=pilot, design=record.design, plan=record.plan,
        plan_digest=record.parts["plan"], sources=_sources(frozen), seal_root=record.root, sealed_parts=record.parts,
        sealed_secret=encrypt(key, frozen.secret.hex().encode(), secret_context(code)), log_head=log.FIRST, log_lines=0,
    )  # fmt: skip


def _sources(frozen: Frozen) -> list[dict[str, Any]]:
    """The runs read one corpus, so their sources are the same; several spellings are all kept."""
    sources: list[dict[str, Any]] = []
    for arm in frozen.arms:
        sources += [source for source in arm.info.sources if source not in sources]
    return sources


def _arm(study_id: int, arm: Any, sealed: dict[str, Any]) -> Arm:
    info = arm.info
    return Arm(
        study_id=study_id, name=info.name, condition=info.condition, size=info.size, seed=info.seed,
        layers=info.layers, hidden=info.hidden, validation_loss=info.validation_loss, train_tokens=info.train_tokens,
        run_path=str(arm.run.folder.resolve()), run_digest=info.digest, offer=sealed["offer"],
        other_runs=sealed.get("other_runs"),
    )  # fmt: skip


def _write_items(session: Session, study: Study, frozen: Frozen, key: bytes) -> dict[str, int]:
    """Write the items in the order of their codes, so that a row's number says nothing. Returns id by code."""
    drawn = frozen.allocation.items
    session.execute(insert(Item), [_item_row(study.id, item, frozen.record.contents[item.code]) for item in drawn])
    ids = {row.code: row.id for row in session.execute(select(Item.code, Item.id).where(Item.study_id == study.id))}
    for item in drawn:
        if item.repeat_of:
            session.execute(update(Item).where(Item.id == ids[item.code]).values(repeat_of=ids[item.repeat_of]))
    session.execute(
        insert(ItemContent),
        [
            {"item_id": ids[code], "fragment": both.narrow, "wide_fragment": both.wide}
            for code, both in frozen.fragments.items()
        ],
    )
    session.execute(insert(ItemKey), list(_key_rows(study.code, frozen, ids, key)))
    if lessons := frozen.record.lessons:
        session.execute(
            insert(Lesson),
            [{"item_id": ids[code], **said, "verdict": Verdict(said["verdict"])} for code, said in lessons.items()],
        )
    return ids


PHASES = {"practice": Phase.PRACTICE, "check": Phase.CHECK}


def _item_row(study_id: int, item: DrawnItem, content: str) -> dict[str, Any]:
    return {
        "study_id": study_id, "code": item.code, "kind": ItemKind(item.kind), "capacity": item.capacity,
        "content_digest": content, "phase": PHASES.get(item.kind, Phase.RATING),
    }  # fmt: skip


def _key_rows(study_code: str, frozen: Frozen, ids: dict[str, int], key: bytes) -> Iterator[dict[str, Any]]:
    drawn = frozen.allocation.items
    for item, text in zip(drawn, padded([canonical(item_key(item)) for item in drawn]), strict=True):
        sealed = encrypt(key, text, item_context(study_code, item.code))
        yield {"item_id": ids[item.code], "sealed": sealed, "leaf": frozen.record.leaves[item.code]}


def _write_seats(session: Session, study_id: int, frozen: Frozen, ids: dict[str, int]) -> None:
    drawn = {item.code: item for item in frozen.allocation.items}
    for order in frozen.allocation.seats:
        seat = Seat(study_id=study_id, number=order.number, share=order.share)
        session.add(seat)
        session.flush()
        session.execute(
            insert(Placement),
            [
                {
                    "seat_id": seat.id,
                    "item_id": ids[code],
                    "position": position,
                    "unit_tag": drawn[code].tag,
                    "kind": ItemKind(drawn[code].kind),
                }
                for position, code in enumerate(order.codes, start=1)
            ],
        )
