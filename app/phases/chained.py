"""What the log holds of an answer given before or after rating: a digest, which an export's row gives again. Pure."""

import hashlib
import json

PRACTISED, CHECKED, GUESSED = "practice answered", "check answered", "condition guessed"
"""Lines of the log, by what was done."""


def answer_digest(rater: str, item: str, said: str) -> str:
    """Over the codes of rater and item and the answer as an export spells it. A text that was written stays out."""
    return hashlib.sha256(json.dumps([rater, item, said], separators=(",", ":")).encode()).hexdigest()
