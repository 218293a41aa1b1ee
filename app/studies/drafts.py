"""Draws that are begun: written down before they are made, and how far they are while they are."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app import clock
from app.errors import AppError, NotFound
from app.models import Draft, DraftState, Study
from app.settings import Settings
from app.store.db import OpenTransaction
from app.studies.asked import Asked
from app.studies.creating import create_study, new_secret
from app.studies.draw import DrawnItem
from app.studies.freezing import Watch, freeze
from app.studies.seal import digest
from app.studies.study_file import read, write
from app.words.said_again import kept, said_again

STEP_SECONDS = 0.5
"""Progress is written down no more often than this."""
LONGEST_MESSAGE = 2000
LISTED = 200


def start(session: Session, actor: str, asked: Asked, runs: list[str], state: DraftState = DraftState.DRAWING) -> Draft:
    """Write down that something is about to be drawn, whatever comes of it."""
    draft = Draft(
        actor=actor, state=state, asked=write(asked), design_digest=digest(asked.design.as_dict()), runs=sorted(runs)
    )
    session.add(draft)
    session.flush()
    return draft


def draw_and_seal(
    transactions: OpenTransaction,
    settings: Settings,
    code: str,
    folders: Sequence[Path],
    *,
    simulated: bool = False,
    watch: Watch | None = None,
) -> str:
    """Make the draft's study, in transactions of its own, and write down how far it is. Returns the study's code.

    A refusal is written down too, and raised.
    """
    with transactions() as session:
        draft = find_draft(session, code)
        asked, actor = read(draft.asked), draft.actor
    watch = watch or _watch(transactions, code)
    try:
        frozen = freeze(asked.design, folders, new_secret(), plan=asked.plan, simulated=simulated, watch=watch)
        with transactions() as session:
            study = create_study(session, settings, name=asked.name, frozen=frozen, actor=actor, pilot=asked.pilot)
            runs = sorted(arm.info.digest for arm in frozen.arms)
            # Where the runs lie, those of practice and check with them, so that the study can be cloned.
            lie = write(replace(asked, runs=tuple(str(folder.resolve()) for folder in folders)))
            _note(session, code, state=DraftState.SEALED, study_id=study.id, runs=runs, asked=lie)
            return study.code
    except AppError as refusal:
        with transactions() as session:
            message = refusal.message[:LONGEST_MESSAGE]
            _note(session, code, state=DraftState.REFUSED, message=message, said=kept(refusal.said))
        raise


def draw_for_page(transactions: OpenTransaction, settings: Settings, code: str, folders: Sequence[Path]) -> None:
    """The same for a browser, whose answer is long gone: a refusal is on the draft's page."""
    with suppress(AppError):
        draw_and_seal(transactions, settings, code, folders)


def why_refused(draft: Draft) -> str:
    """A sentence for whoever reads it."""
    said: str = draft.message if draft.said is None else said_again(draft.said)
    return said


def find_draft(session: Session, code: str) -> Draft:
    draft = session.scalars(select(Draft).where(Draft.code == code)).one_or_none()
    if draft is None:
        raise NotFound
    return draft


def study_code_of(session: Session, draft: Draft) -> str | None:
    return session.scalars(select(Study.code).where(Study.id == draft.study_id)).one_or_none()


def draft_of(session: Session, study: Study) -> Draft | None:
    """The draft that became the study; first studies have none."""
    return session.scalars(select(Draft).where(Draft.study_id == study.id)).first()


def list_drafts(session: Session) -> list[tuple[Draft, str | None]]:
    """The newest drafts, each with the code of the study it became."""
    statement = select(Draft, Study.code).outerjoin(Study, Study.id == Draft.study_id)
    return [(draft, code) for draft, code in session.execute(statement.order_by(Draft.id.desc()).limit(LISTED))]


def _watch(transactions: OpenTransaction, code: str) -> Callable[[Iterable[DrawnItem], int], Iterator[DrawnItem]]:
    """Pass items on, and write down now and then how many of them are done."""

    def watched(items: Iterable[DrawnItem], total: int) -> Iterator[DrawnItem]:
        written = 0.0
        for done, item in enumerate(items):
            if time.monotonic() - written > STEP_SECONDS:
                written = time.monotonic()
                with transactions() as session:
                    _note(session, code, done=done, total=total)
            yield item
        with transactions() as session:
            _note(session, code, done=total, total=total)

    return watched


def _note(session: Session, code: str, **changed: object) -> None:
    session.execute(update(Draft).where(Draft.code == code).values(seen_at=clock.now(), **changed))
