"""The clock of a rater's stay, and when a break is due. Needs no database."""

from datetime import datetime, timedelta
from typing import NamedTuple

LONGEST_GAP = timedelta(minutes=3)
"""A longer pause between two signs of life counts as this much work."""
REST = timedelta(minutes=5)
"""So long without a sign of life is a rest, within a sitting or between two."""
BREAK_AFTER = timedelta(minutes=50)
"""Of active time without a rest."""


class Stretch(NamedTuple):
    """Work without a rest."""

    seconds: float = 0.0
    break_offered_at: datetime | None = None


class NewestSitting(NamedTuple):
    """A rater's: a row of `sitting`, with the names that its model explains."""

    id: int
    started_at: datetime
    last_seen_at: datetime
    active_seconds: float
    unrested_seconds: float
    break_offered_at: datetime | None
    ended_at: datetime | None = None
    ended_by: str | None = None
    paused: bool = False

    @property
    def stretch(self) -> Stretch:
        return Stretch(self.unrested_seconds, self.break_offered_at)


def is_over(last_seen_at: datetime, ended_at: datetime | None, at: datetime, idle: timedelta) -> bool:
    """Ended by hand, or by itself after so long without a sign of life."""
    return ended_at is not None or at - last_seen_at >= idle


def worked_seconds(last_seen_at: datetime, at: datetime) -> float:
    """What the gap between two signs of life adds to the active time."""
    return max(0.0, min(at - last_seen_at, LONGEST_GAP).total_seconds())


def stretched(before: Stretch, last_seen_at: datetime, at: datetime, *, worked: bool) -> Stretch:
    """The stretch at a sign of life; `worked`: the gap since the last one lay within a sitting, not between two."""
    if at - last_seen_at >= REST:
        return Stretch()
    return before._replace(seconds=before.seconds + (worked_seconds(last_seen_at, at) if worked else 0.0))


def prolonged(sitting: NewestSitting, at: datetime) -> NewestSitting:
    """The same sitting, with the gap until this sign of life."""
    stretch = stretched(sitting.stretch, sitting.last_seen_at, at, worked=True)
    return sitting._replace(
        active_seconds=sitting.active_seconds + worked_seconds(sitting.last_seen_at, at),
        last_seen_at=max(sitting.last_seen_at, at),
        unrested_seconds=stretch.seconds,
        break_offered_at=stretch.break_offered_at,
    )


def is_break_due(stretch: Stretch) -> bool:
    """Once a stretch: whoever goes on is not asked again before they have rested."""
    return stretch.break_offered_at is None and stretch.seconds >= BREAK_AFTER.total_seconds()


def seconds_between(shown_at: datetime, at: datetime) -> float:
    """How long an item was looked at. Clocks may be set back; time is never negative."""
    return max(0.0, (at - shown_at).total_seconds())
