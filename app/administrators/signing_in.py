"""How many tries a name has. Needs no database."""

from datetime import datetime, timedelta

FREE_TRIES = 5
FIRST_WAIT = timedelta(seconds=30)
LONGEST_WAIT = timedelta(minutes=15)


def waits_until(tries: int, at: datetime) -> datetime | None:
    """Until when the name takes no more tries after this many without success; None where it takes the next."""
    if tries < FREE_TRIES:
        return None
    doubled: timedelta = FIRST_WAIT * 2 ** min(tries - FREE_TRIES, 10)
    return at + min(doubled, LONGEST_WAIT)
