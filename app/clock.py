from datetime import UTC, datetime


def now() -> datetime:
    """The time of the server, the only clock of the study."""
    return datetime.now(UTC)
