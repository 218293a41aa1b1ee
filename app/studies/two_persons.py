"""Unblinding by two persons: the first asks, the second says yes within a day, the first can take it back."""

from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app import clock, log
from app.administrators.queries import gave_access
from app.errors import Conflict
from app.models import Administrator, Study, UnblindingRequest
from app.roles import Role, roles_of
from app.studies.queries import locked_study
from app.studies.seal import digest
from app.words.language import N_

TO_CONFIRM = timedelta(hours=24)
LONGEST_BOTH = 100
"""Characters of the column that names who unblinded."""


def needs_two(study: Study) -> bool:
    return bool(study.design.get("unblinders", 1) == 2)


def pending(session: Session, study: Study) -> UnblindingRequest | None:
    """What was asked for and can still be confirmed: in time, by somebody who may still unblind."""
    request = session.get(UnblindingRequest, study.id)
    if request is None or clock.now() - request.at > TO_CONFIRM:
        return None
    asking = session.scalars(
        select(Administrator).where(Administrator.name == request.actor, Administrator.deactivated_at.is_(None))
    ).one_or_none()
    return request if asking and Role.UNBLIND in roles_of(asking) else None


def require_another(session: Session, study: Study, first: str, second: str) -> None:
    """Raises Conflict where the second yes could come from the person who asked, under another name: whoever manages
    can make accounts and passwords, and so be somebody else.
    """
    if first == second:
        raise Conflict(N_("You have asked for it. Somebody else who may unblind has to say yes."))
    for giver, taker in ((first, second), (second, first)):
        if gave_access(session, giver, taker, study.created_at):
            raise Conflict(
                N_(
                    "“%(taker)s” got the account, its password or the role from “%(giver)s” after this study was "
                    "sealed, so the two count as one person here. A third administrator who may unblind has to say yes."
                ),
                taker=taker,
                giver=giver,
            )


def ask(session: Session, study: Study, administrator: Administrator, reason: str) -> UnblindingRequest:
    """Write down that the first person wants the study unblinded. One that nobody confirmed in time is replaced."""
    session.execute(delete(UnblindingRequest).where(UnblindingRequest.study_id == study.id))
    request = UnblindingRequest(study_id=study.id, at=clock.now(), actor=administrator.name, reason=reason)
    session.add(request)
    log.append(session, study.id, administrator.name, "unblinding asked for", reason=digest(reason))
    return request


def take_back(session: Session, code: str, administrator: Administrator) -> None:
    """The first person changes their mind."""
    study = locked_study(session, code)
    request = pending(session, study)
    if request is None or request.actor != administrator.name:
        raise Conflict(N_("You have asked for nothing here that could be taken back."))
    drop(session, study, administrator.name, "taken back")


def drop(session: Session, study: Study, actor: str, why: str) -> None:
    """Whatever was asked for is void: it was about the study as it was then."""
    if session.get(UnblindingRequest, study.id) is None:
        return
    session.execute(delete(UnblindingRequest).where(UnblindingRequest.study_id == study.id))
    log.append(session, study.id, actor, "unblinding no longer asked for", why=why)


def both(first: str, second: str) -> str:
    """Two names in the column that holds one; the log has them whole."""
    most = (LONGEST_BOTH - len(" and ")) // 2
    whole = f"{first} and {second}"
    return whole if len(whole) <= LONGEST_BOTH else f"{first[:most]} and {second[:most]}"
