"""The clock of a rater's stay. Needs no database."""

from datetime import datetime, timedelta

LONGEST_GAP = timedelta(minutes=3)
"""A longer pause between two signs of life counts as this much work."""


def is_over(last_seen_at: datetime, ended_at: datetime | None, at: datetime, idle: timedelta) -> bool:
    """Ended by hand, or by itself after so long without a sign of life."""
    return ended_at is not None or at - last_seen_at >= idle


def worked_seconds(last_seen_at: datetime, at: datetime) -> float:
    """What the gap between two signs of life adds to the active time."""
    return max(0.0, min(at - last_seen_at, LONGEST_GAP).total_seconds())
