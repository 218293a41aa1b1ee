"""Whether places stay empty because nobody who is in is asked to fill them. Needs no database."""

from collections.abc import Sequence

from app.raters.queries import RaterRow


def left_over(rows: Sequence[RaterRow], *, missing: int) -> int:
    """How many verdicts are missing where everybody who is in has finished; 0 while somebody is still asked for one."""
    here = [row for row in rows if row.code and row.link not in ("deactivated", "withdrawn")]
    return missing if here and all(row.finished for row in here) else 0
