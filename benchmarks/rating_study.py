"""A study for measuring the rating pages: items of 20 snippets as large as real ones, and raters who are let in."""

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from app.clock import now
from app.log import FIRST
from app.models import (
    Administrator,
    BrowserSession,
    Item,
    ItemContent,
    ItemKind,
    Placement,
    Rater,
    RaterKind,
    Seat,
    Study,
)
from app.models.base import new_code
from app.rating.shading import Fragments, pad, render_item
from app.rating.snippets import Shown
from app.store.db import open_engine, transaction
from app.store.migrate import upgrade
from app.studies.design import Design
from app.web.security import ADMINISTRATOR_COOKIE, LIFETIME, RATER_COOKIE, new_token, token_hash

SNIPPETS, TOKENS, WIDE_TOKENS = 20, 64, 128
DIFFERENT = 24
"""Contents that are really rendered; further items repeat them."""
WORDS = (
    " the", " of", " river", " and", " in", " to", " was", "ing", "ed", " station", " for", " on", ",", ".", " count",
    "ry", " that", " is", "(", ")", " return", " self", " def", "\n", "    ", " =", " 1", "9", " years", " between",
    " church", " with", " as", " it", " by", " from", "s", " an", " or", " value", "_", "name", " which", " two",
)  # fmt: skip


def made_study(
    database_url: str, *, items: int, raters: int, capacity: int, share: int, rendered: Sequence[Fragments] = ()
) -> list[str]:
    """Make the database and the study; returns a cookie for each rater, who has only to press Begin.

    `rendered`: what raters see, again and again, where it need not be as large as real items are.
    """
    if database_url.startswith("sqlite:///"):
        Path(database_url.removeprefix("sqlite:///")).unlink(missing_ok=True)
    upgrade(database_url)
    engine = open_engine(database_url)
    with transaction(engine) as session:
        study = _study(session)
        fragments = rendered or contents(random.Random(1))  # noqa: S311  # not a secret
        item_ids = _items(session, study.id, items, capacity, fragments)
        cookies = [_rater(session, study.id, number, item_ids, share) for number in range(1, raters + 1)]
        if engine.dialect.name == "postgresql":
            session.execute(text("analyze"))  # as its own housekeeping does within a minute
    engine.dispose()
    return cookies


def administrator_cookie(database_url: str) -> str:
    """Somebody who may manage studies, signed in."""
    engine, token = open_engine(database_url), new_token()
    with transaction(engine) as session:
        administrator = Administrator(name="Measurer", password_hash="")
        session.add(administrator)
        session.flush()
        until = now() + LIFETIME
        session.add(BrowserSession(token_hash=token_hash(token), administrator_id=administrator.id, expires_at=until))
    engine.dispose()
    return f"{ADMINISTRATOR_COOKIE}={token}"


def contents(rng: random.Random) -> list[Fragments]:
    """Half of them dense (nearly every token shaded, as in a GELU model), half sparse; all padded to one length."""
    rendered = [render_item(_snippets(rng, dense=bool(number % 2)), TOKENS, WIDE_TOKENS) for number in range(DIFFERENT)]
    narrow, wide = (max(len(part) for part in parts) for parts in zip(*rendered, strict=True))
    return [Fragments(pad(each.narrow, narrow), pad(each.wide, wide)) for each in rendered]


def _snippets(rng: random.Random, *, dense: bool) -> list[Shown]:
    share = 0.97 if dense else 0.2
    return [
        Shown(
            texts=[rng.choice(WORDS).encode() for _ in range(WIDE_TOKENS)],
            activations=[rng.random() * 0.8 if rng.random() < share else 0.0 for _ in range(79)]
            + [1.0]
            + [rng.random() * 0.8 if rng.random() < share else 0.0 for _ in range(WIDE_TOKENS - 80)],
            peak=79,
            document_start=False,
            document_end=False,
        )
        for _ in range(SNIPPETS)
    ]


def _study(session: Session) -> Study:
    digest = hashlib.sha256(b"measured").hexdigest()
    study = Study(
        name="Measured", design=Design().as_dict(), plan={}, plan_digest=digest, sources=[], seal_root=digest,
        sealed_parts={}, sealed_secret=b"", simulated=True, log_head=FIRST,
    )  # fmt: skip
    session.add(study)
    session.flush()
    return study


def _items(session: Session, study_id: int, count: int, capacity: int, fragments: Sequence[Fragments]) -> list[int]:
    digest = hashlib.sha256(b"measured").hexdigest()
    row = {"study_id": study_id, "kind": ItemKind.NEURON, "capacity": capacity, "content_digest": digest}
    made = session.scalars(insert(Item).returning(Item.id), [row | {"code": new_code()} for _ in range(count)]).all()
    session.execute(
        insert(ItemContent),
        [
            {"item_id": item_id, "fragment": each.narrow, "wide_fragment": each.wide}
            for number, item_id in enumerate(made)
            for each in [fragments[number % len(fragments)]]
        ],
    )
    return list(made)


def _rater(session: Session, study_id: int, number: int, item_ids: list[int], share: int) -> str:
    rater = Rater(study_id=study_id, kind=RaterKind.SIMULATED, name=f"Rater {number}", share=share, consented_at=now())
    session.add(rater)
    session.flush()
    seat = Seat(study_id=study_id, number=number, share=share, rater_id=rater.id)
    session.add(seat)
    session.flush()
    order = random.Random(number).sample(item_ids, len(item_ids))  # noqa: S311
    session.execute(
        insert(Placement),
        [
            {
                "seat_id": seat.id, "item_id": item_id, "position": position, "kind": ItemKind.NEURON,
                "unit_tag": f"{item_id:064d}",
            }
            for position, item_id in enumerate(order, start=1)
        ],
    )  # fmt: skip
    token = new_token()
    session.add(BrowserSession(token_hash=token_hash(token), rater_id=rater.id, expires_at=now() + LIFETIME))
    return f"{RATER_COOKIE}={token}"
