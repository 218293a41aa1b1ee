"""Reasons that people write down for an act: kept in full beside it, digested in the log."""

from app.errors import Invalid

LONGEST_REASON = 2000


def checked_reason(reason: str, none: str) -> str:
    """The reason without blanks around it. Raises Invalid with the sentence `none` where it is empty."""
    reason = reason.strip()
    if not reason:
        raise Invalid(none)
    if len(reason) > LONGEST_REASON:
        raise Invalid(f"The reason has {len(reason)} characters; at most {LONGEST_REASON} are kept. Shorten it.")
    return reason
