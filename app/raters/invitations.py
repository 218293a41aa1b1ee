"""What an invitation's link still does. Needs no database."""

from datetime import datetime
from typing import Literal

LinkState = Literal["new", "opened", "expired", "revoked"]

REVOKED = "This link was withdrawn. Ask the person who sent it to you for a new one."
EXPIRED = "This link has expired. Ask the person who sent it to you for a new one."


def link_state(*, revoked_at: datetime | None, expires_at: datetime | None, opened: bool, at: datetime) -> LinkState:
    """Somebody who came in time may come back after the link has expired, but not after it was withdrawn."""
    if revoked_at is not None:
        return "revoked"
    if opened:
        return "opened"
    return "expired" if expires_at is not None and expires_at <= at else "new"


def refusal(state: LinkState) -> str | None:
    """Why this link lets nobody in, as a sentence for who opened it."""
    return {"revoked": REVOKED, "expired": EXPIRED}.get(state)


def numbered(name: str, taken: set[str]) -> str:
    """The name itself, or “name 2”, “name 3”: the first that nobody in the study has."""
    if name not in taken:
        return name
    number = 2
    while f"{name} {number}" in taken:
        number += 1
    return f"{name} {number}"
