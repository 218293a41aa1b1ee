"""What one administrator does to another. Each act begins with the managers' lock, and at least one of them stays."""

import secrets

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app import clock
from app.administrators.actions import ALL_ROLES, add_administrator
from app.administrators.own_places import end_places
from app.audit_log import record
from app.errors import Conflict, Invalid, NotFound, Refused
from app.models import Administrator, BrowserSession
from app.names import one_line
from app.roles import WITHOUT, Role, give, roles_of
from app.web.security import hash_password

LONGEST_EMAIL = 254
FIRST_PASSWORD_BYTES = 12


def add(
    session: Session, actor: Administrator, name: str, roles: frozenset[Role] = ALL_ROLES
) -> tuple[Administrator, str]:
    """A new administrator and the first password, which is kept nowhere and has to be changed when it is first used."""
    _lock_managers(session, actor)
    password = secrets.token_urlsafe(FIRST_PASSWORD_BYTES)
    made = add_administrator(session, name, password, roles=roles, actor=actor.name, must_change_password=True)
    return made, password


def set_roles(session: Session, actor: Administrator, administrator_id: int, roles: frozenset[Role]) -> None:
    managers = _lock_managers(session, actor)
    administrator = find(session, administrator_id)
    before = roles_of(administrator)
    if before == roles:
        return
    if Role.MANAGE not in roles:
        _keep_one(managers, administrator)
    give(administrator, roles)
    session.flush()
    given, taken = sorted(roles - before), sorted(before - roles)
    if Role.RATE in taken:
        end_places(session, administrator, actor=actor.name)
    record(session, actor.name, "roles changed", about=administrator.name, given=given, taken=taken)


def deactivate(session: Session, actor: Administrator, administrator_id: int) -> None:
    """Shut somebody out, at once and in every browser, as a rater too. What they did stays under their name."""
    managers = _lock_managers(session, actor)
    administrator = find(session, administrator_id)
    if administrator.deactivated_at is not None:
        return
    _keep_one(managers, administrator)
    administrator.deactivated_at = clock.now()
    end_sessions(session, administrator)
    end_places(session, administrator, actor=actor.name)
    record(session, actor.name, "administrator deactivated", about=administrator.name)


def reactivate(session: Session, actor: Administrator, administrator_id: int) -> None:
    """Let somebody in again, with the roles they had."""
    _lock_managers(session, actor)
    administrator = find(session, administrator_id)
    if administrator.deactivated_at is None:
        return
    administrator.deactivated_at = None
    administrator.failed_sign_ins, administrator.locked_until = 0, None
    record(session, actor.name, "administrator reactivated", about=administrator.name)


def give_password(session: Session, actor: Administrator, administrator_id: int) -> tuple[Administrator, str]:
    """A new first password for somebody who forgot theirs. Every browser that was let in as them is shut out."""
    _lock_managers(session, actor)
    administrator = find(session, administrator_id)
    if administrator.id == actor.id:
        raise Conflict("This is your own account: change your password under “Password”, with the one you have.")
    password = secrets.token_urlsafe(FIRST_PASSWORD_BYTES)
    administrator.password_hash, administrator.must_change_password = hash_password(password), True
    administrator.failed_sign_ins, administrator.locked_until = 0, None
    end_sessions(session, administrator)
    record(session, actor.name, "password given", about=administrator.name)
    return administrator, password


def set_email(session: Session, actor: Administrator, administrator_id: int, email: str) -> None:
    """As whom the provider of sign-ins knows somebody; empty: as nobody. Their next sign-in ties the two together."""
    _lock_managers(session, actor)
    administrator = find(session, administrator_id)
    email = one_line(email, LONGEST_EMAIL).lower()
    if email and (email.count("@") != 1 or " " in email or email[0] == "@" or email[-1] == "@"):
        raise Invalid(
            "“%(email)s” is not an e-mail address. Type one like ada@example.org, or leave it empty.", email=email
        )
    if email == (administrator.email or ""):
        return
    taken = select(Administrator.name).where(Administrator.email == email)
    if email and (other := session.scalars(taken).one_or_none()) is not None:
        raise Conflict(
            "The address %(email)s is “%(other)s”’s already. Each administrator needs one of their own.",
            email=email, other=other,
        )  # fmt: skip
    administrator.email, administrator.subject = email or None, None
    end_sessions(session, administrator)
    record(session, actor.name, "address changed", about=administrator.name)


def find(session: Session, administrator_id: int) -> Administrator:
    administrator = session.get(Administrator, administrator_id)
    if administrator is None:
        raise NotFound
    return administrator


def find_named(session: Session, name: str) -> Administrator:
    administrator = session.scalars(select(Administrator).where(Administrator.name == name)).one_or_none()
    if administrator is None:
        raise NotFound(f"There is no administrator named “{name}”. `glance administrator list` names them.")
    return administrator


def end_sessions(session: Session, administrator: Administrator) -> None:
    session.execute(delete(BrowserSession).where(BrowserSession.administrator_id == administrator.id))


def _lock_managers(session: Session, actor: Administrator) -> set[int]:
    """Who manages, held until the act is done: two of them cannot take the role from each other at the same instant."""
    managing = select(Administrator).where(Administrator.may_manage, Administrator.deactivated_at.is_(None))
    locked = managing.order_by(Administrator.id).with_for_update().execution_options(populate_existing=True)
    managers = {administrator.id for administrator in session.scalars(locked)}
    if actor.id is not None and actor.id not in managers:  # the shell has no row, and may
        raise Refused(WITHOUT[Role.MANAGE])
    return managers


def _keep_one(managers: set[int], leaving: Administrator) -> None:
    if managers == {leaving.id}:
        raise Conflict(
            "“%(name)s” is the only administrator with the role “manage”, so nobody could give it back. Give the role "
            "to somebody else first.",
            name=leaving.name,
        )
