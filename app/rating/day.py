"""A rater's day, by their own clock where the browser says it, or else in UTC. Needs no database."""

from datetime import UTC, datetime, timedelta, timezone

FARTHEST_WEST, FARTHEST_EAST = -12 * 60, 14 * 60


def minutes_east_of(kept: str | None) -> int:
    """How far the rater's clock is ahead of UTC, as their browser said; 0 where it said nothing we can use."""
    sign, digits = (-1, kept[1:]) if kept and kept.startswith("-") else (1, kept or "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 3):
        return 0
    minutes = sign * int(digits)
    return minutes if FARTHEST_WEST <= minutes <= FARTHEST_EAST else 0


def day_start(at: datetime, minutes_east: int = 0) -> datetime:
    """The last midnight."""
    there = at.astimezone(timezone(timedelta(minutes=minutes_east)))
    return there.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)


def next_day(at: datetime) -> datetime:
    """The next midnight in UTC, where limits a day begin anew for everybody."""
    return day_start(at) + timedelta(days=1)


def zone_name(minutes_east: int) -> str:
    """As on a ticket: UTC, UTC+08:00."""
    if not minutes_east:
        return "UTC"
    hours, minutes = divmod(abs(minutes_east), 60)
    return f"UTC{'+' if minutes_east > 0 else '−'}{hours:02}:{minutes:02}"


def there(at: datetime, minutes_east: int) -> datetime:
    """A moment on the rater's clock."""
    return at.astimezone(timezone(timedelta(minutes=minutes_east)))
