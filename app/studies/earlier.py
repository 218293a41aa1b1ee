"""What was drawn before from the same runs: whoever reads a study must be able to rule out that its draw was chosen."""

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.models import Draft, DraftState

SILENT = timedelta(minutes=5)
"""A draw without a sign of life for so long was stopped: with its server, most likely."""


def stopped(draft: Draft) -> bool:
    """Nobody draws it any more, and it came to nothing."""
    return draft.state is DraftState.DRAWING and clock.now() - draft.seen_at > SILENT


def earlier(session: Session, runs: list[str]) -> dict[str, int]:
    """How many drafts shared a run with these, by what became of them. Those under way are left out."""
    became = [
        "stopped" if stopped(draft) else draft.state.value
        for draft in session.scalars(select(Draft).order_by(Draft.id))
        if set(draft.runs) & set(runs) and (draft.state is not DraftState.DRAWING or stopped(draft))
    ]
    return {state: became.count(state) for state in dict.fromkeys(became)}
