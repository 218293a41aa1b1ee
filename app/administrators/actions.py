"""Administrators: who they are, and how they sign in."""

import secrets
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.administrators.signing_in import waits_until
from app.audit_log import SHELL, SOMEBODY, record, record_failure
from app.errors import Conflict, Invalid, Refused
from app.models import Administrator
from app.names import one_line
from app.roles import Role, give
from app.store.db import OpenTransaction
from app.web.security import hash_password, password_matches
from app.words.language import LANGUAGES, language

SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 200
"""The pages take no longer one, so whoever had it could not sign in."""
LONGEST_NAME = 100
ALL_ROLES = frozenset(Role)
RATER = "rater"
"""A rater’s acts are logged under this word and their code."""
NO_FIT = (
    "This name and password do not fit, or there were too many tries. "
    "After many tries a name has to wait, at most 15 minutes."
)
"""One sentence for every reason, so that it does not say which names exist."""
NOBODY = hash_password(secrets.token_urlsafe(16))
"""Compared with where there is no such administrator, so that the answer takes as long."""


@dataclass(frozen=True)
class Attempt:
    administrator_id: int | None
    """None where nobody has this name, or the name has to wait."""
    password_hash: str


def add_administrator(
    session: Session,
    name: str,
    password: str,
    *,
    roles: frozenset[Role] = ALL_ROLES,
    actor: str = SHELL,
    must_change_password: bool = False,
) -> Administrator:
    name = one_line(name, LONGEST_NAME)
    if not name:
        raise Invalid("An administrator needs a name. Type one.")
    check_no_actor(name)
    if session.scalars(select(Administrator.id).where(Administrator.name == name)).first() is not None:
        raise Conflict("There is already an administrator named “%(name)s”. Choose another name.", name=name)
    administrator = Administrator(
        name=name, password_hash=hash_password(checked(password)), must_change_password=must_change_password
    )
    give(administrator, roles)
    session.add(administrator)
    session.flush()
    record(session, actor, "administrator added", about=name, roles=sorted(roles))
    return administrator


def check_no_actor(name: str) -> None:
    """Names under which the audit and the logs show others. Raises Invalid."""
    alike = name.casefold()
    ours = {said.casefold() for code in LANGUAGES for said in map(language(code).gettext, (SHELL, SOMEBODY))}
    if alike in ours or alike.split()[0] == RATER:
        raise Invalid(
            "“%(name)s” is how the audit calls somebody else, so no administrator can have this name. Choose another.",
            name=name,
        )


def checked(password: str) -> str:
    """The password, if its length fits. Raises Invalid."""
    if len(password) < SHORTEST_PASSWORD:
        raise Invalid(
            "The password has %(n)s characters; it needs at least %(least)s.", n=len(password), least=SHORTEST_PASSWORD
        )
    if len(password) > LONGEST_PASSWORD:
        raise Invalid(
            "The password has %(n)s characters; at most %(most)s are taken. Shorten it.",
            n=len(password), most=LONGEST_PASSWORD,
        )  # fmt: skip
    return password


def sign_in(transactions: OpenTransaction, name: str, password: str) -> int:
    """The id of who may come in, with a line in the audit, and one where nobody may. Raises Refused."""
    try:
        administrator_id = check_password(transactions, name, password)
    except Refused:
        with transactions() as session:
            known = session.scalars(select(Administrator.name).where(Administrator.name == name)).one_or_none()
            record_failure(session, known or SOMEBODY, "password")
        raise
    with transactions() as session:
        record(session, session.get_one(Administrator, administrator_id).name, "signed in", how="password")
    return administrator_id


def check_password(transactions: OpenTransaction, name: str, password: str) -> int:
    """The id of the administrator with this name and password. Raises Refused in one sentence for every reason.

    A try is counted, in a transaction of its own, before the password is looked at: so it survives the refusal,
    and tries that come at the same time count too. The slow comparison holds no transaction open.
    """
    with transactions() as session:
        attempt = _count_try(session, name)
    fits = password_matches(attempt.password_hash, password)
    if not fits or attempt.administrator_id is None:
        raise Refused(NO_FIT)
    with transactions() as session:
        administrator = session.get_one(Administrator, attempt.administrator_id)
        administrator.failed_sign_ins, administrator.locked_until = 0, None
    return attempt.administrator_id


def _count_try(session: Session, name: str) -> Attempt:
    at = clock.now()
    named = select(Administrator).where(Administrator.name == name, Administrator.deactivated_at.is_(None))
    administrator = session.scalars(named.with_for_update()).one_or_none()
    if administrator is None or (administrator.locked_until and administrator.locked_until > at):
        return Attempt(None, NOBODY)
    administrator.failed_sign_ins += 1
    administrator.locked_until = waits_until(administrator.failed_sign_ins, at)
    return Attempt(administrator.id, administrator.password_hash)
