"""Whose turn it is: decisions about items, places and leases. Needs no database."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

PageState = Literal["begin", "item", "waiting", "enough", "finished", "closed"]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How a rater stands at one moment."""

    open: bool
    """The study takes verdicts."""
    present: bool
    """The rater's sitting is open."""
    holds: bool
    """An item is in the rater's hands."""
    done: int
    """Items with a verdict of this rater."""
    share: int | None
    """How many are theirs; None once they chose to go on beyond it."""
    free: bool
    """A place is free on an item that this rater may take."""
    may_return: bool
    """Such a place is in other hands and has no verdict yet."""
    gone_on: bool = False
    """The rater has gone on to what comes after rating."""
    day_full: bool = False
    """The study's limit a day is reached, and nothing is in hand."""


def wants_more(done: int, share: int | None) -> bool:
    return share is None or done < share


def page_state(standing: Standing) -> PageState:
    """Which page a rater sees."""
    more = wants_more(standing.done, standing.share)
    out_of_work = standing.gone_on or (not standing.holds and not (more and (standing.free or standing.may_return)))
    if not standing.open:
        return "finished" if out_of_work and standing.done else "closed"
    if out_of_work:
        return "finished"
    if standing.present and standing.holds:
        return "item"
    if standing.day_full:
        return "enough"
    if standing.holds or standing.free:
        return "begin"
    return "waiting"


def lease_is_over(leased_until: datetime, at: datetime) -> bool:
    return leased_until <= at
