"""What a rating page shows beside the snippets: the rule's numbers, the clock's state, the form's key."""

import json
import secrets
from typing import Any

from app.rating.words import VERDICT_WORDS

STEPS = 12
"""The line that shows the time starts at one of so many steps, so that it needs no script and no inline style."""
HTMX_CONFIG = json.dumps(
    {
        "includeIndicatorStyles": False,
        "allowEval": False,
        "allowScriptTags": False,
        "historyEnabled": False,
        "historyCacheSize": 0,
        "defaultSettleDelay": 0,
        "attributesToSettle": [],
        "timeout": 20_000,
        # 409: this tab was an old one, and the answer is the current page with a word about it.
        "responseHandling": [
            {"code": "204", "swap": False},
            {"code": "[23]..", "swap": True},
            {"code": "409", "swap": True},
            {"code": "[45]..", "swap": False, "error": True},
        ],
    }
)


def beside(seconds: float, fragment: bytes, clock: tuple[int, int] = (60, 120)) -> dict[str, Any]:
    snippets = fragment.count(b"<li><input")
    turn, end = clock
    return {
        "snippets": snippets,
        "enough": enough(snippets),
        "minutes": (seconds >= turn) + (seconds >= end),
        "since": min(STEPS, int(seconds * STEPS // end)),
        "clock": clock,
        "key": new_key(),
        "verdict_words": VERDICT_WORDS,
        "htmx_config": HTMX_CONFIG,
    }


def enough(snippets: int) -> int:
    """80 % of the snippets, rounded up."""
    return -(-4 * snippets // 5)


def new_key() -> str:
    """One a form: the same form sent twice is one verdict."""
    return secrets.token_urlsafe(18)
