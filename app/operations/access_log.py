"""The server's log: one JSON line a request, for programs that read logs."""

import json
import logging
import sys
import traceback

from app.clock import now
from app.operations.observing import Answered

REQUESTS = logging.getLogger("glance.requests")
FAILURES = logging.getLogger("glance.failures")


def write_lines() -> None:
    """Send the log to standard output. Calling it again changes nothing."""
    for logger in (REQUESTS, FAILURES):
        if not logger.handlers:
            handler = logging.StreamHandler(sys.stdout)
            handler.setFormatter(logging.Formatter("%(message)s"))
            logger.addHandler(handler)
            logger.setLevel(logging.INFO)
            logger.propagate = False


def note(answered: Answered) -> None:
    if not REQUESTS.isEnabledFor(logging.INFO):
        return  # the line would be written for nobody
    REQUESTS.info("%s", _line(**answered._asdict() | {"seconds": round(answered.seconds, 4)}))


def note_failure(request: str, error: Exception) -> None:
    """What broke and where in the program, without the error's own words, which may quote a page."""
    where = traceback.extract_tb(error.__traceback__)[-1:]
    at = [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}" for frame in where]
    FAILURES.error("%s", _line(request=request, failed=type(error).__name__, at=at))


def _line(**what: object) -> str:
    return json.dumps({"time": now().isoformat(), **what})
