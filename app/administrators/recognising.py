"""Whom a provider vouches for, among the administrators that there are. Nobody is made one by signing in."""

import secrets

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.administrators.provider import Person
from app.audit_log import SOMEBODY, record, record_failure
from app.errors import AppError, Refused
from app.models import Administrator
from app.store.db import OpenTransaction
from app.web.security import hash_password
from app.words.language import N_

LONGEST_SUBJECT = 500
NOT_KNOWN = N_(
    "The provider knows you, but there is no administrator with your address here. "
    "Ask an administrator who manages to write it down, and have the provider verify it."
)


def recognise(transactions: OpenTransaction, person: Person) -> int:
    """The id of the administrator who this is. Raises Refused."""
    try:
        with transactions() as session:
            administrator = _find(session, person)
            if administrator.must_change_password:  # what somebody else knows opens nothing from now on
                administrator.password_hash = hash_password(secrets.token_urlsafe(32))
                administrator.must_change_password = False
            record(session, administrator.name, "signed in", how="provider")
            return administrator.id
    except AppError:
        with transactions() as session:
            record_failure(session, SOMEBODY, "provider")
        raise


def _find(session: Session, person: Person) -> Administrator:
    """By the provider's own name for them; the first time by a verified address, which is tied to that name then."""
    let_in = select(Administrator).where(Administrator.deactivated_at.is_(None))
    known = session.scalars(let_in.where(Administrator.subject == person.subject)).one_or_none()
    if known is not None:
        return known
    if person.email is None or len(person.subject) > LONGEST_SUBJECT:
        raise Refused(NOT_KNOWN)
    first = let_in.where(Administrator.email == person.email, Administrator.subject.is_(None)).with_for_update()
    administrator = session.scalars(first).one_or_none()
    if administrator is None:
        raise Refused(NOT_KNOWN)
    administrator.subject = person.subject
    return administrator
