"""A line in the audit for each file that was taken away."""

from collections.abc import Iterator

from fastapi import Depends, Request

from app.audit_log import record
from app.raters.queries import study_by_code
from app.store.db import SeparateTransactions
from app.web.params import Code
from app.web.security import ReadingAdministrator


def _note(
    request: Request, administrator: ReadingAdministrator, transactions: SeparateTransactions, code: Code
) -> Iterator[None]:
    yield
    # Only where the file was made: a refusal goes another way.
    file = request.url.path.rsplit("/", 1)[-1]
    with transactions() as session:
        record(session, administrator.name, "download taken", study_id=study_by_code(session, code).id, file=file)


TAKEN = [Depends(_note, scope="function")]
"""Of every address where a file is taken away."""
