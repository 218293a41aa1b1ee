"""Reasons that people write down for an act: kept in full beside it, digested in the log."""

from app.errors import Invalid
from app.words.language import N_

LONGEST_REASON = 2000


def checked_reason(reason: str, none: str) -> str:
    """The reason without blanks around it. Raises Invalid with the sentence `none` where it is empty."""
    reason = reason.strip()
    if not reason:
        raise Invalid(none)
    if len(reason) > LONGEST_REASON:
        raise Invalid(
            N_("The reason has %(n)s characters; at most %(most)s are kept. Shorten it."),
            n=len(reason), most=LONGEST_REASON,
        )  # fmt: skip
    return reason
