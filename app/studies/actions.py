from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app import clock, log
from app.administrators.actions import check_password
from app.errors import AppError, Conflict, Invalid
from app.models import Administrator, Arm, OpenedItem, Study, StudyState, UnblindingRequest
from app.raters.gone import forget_fingerprints
from app.roles import Role, require
from app.settings import Settings
from app.store.db import OpenTransaction
from app.studies import two_persons
from app.studies.beforehand import Look, look, still_holds
from app.studies.draw import LEVEL
from app.studies.opening import Opened
from app.studies.queries import count_verdicts, find_study, locked_study, verdicts_digest
from app.studies.reasons import checked_reason
from app.studies.said import said_so_far
from app.studies.seal import digest
from app.studies.so_far import so_far
from app.studies.unblinding import bars, checks
from app.words.language import N_


def close_study(session: Session, code: str, administrator: Administrator) -> Study:
    """No verdict is taken from now on. The study stays blind, and can be opened again."""
    require(administrator, Role.MANAGE)
    study = locked_study(session, code)
    if study.state is not StudyState.OPEN:
        raise Conflict(N_("The study “%(name)s” is closed already."), name=study.name)
    study.state, study.closed_at = StudyState.CLOSED, clock.now()
    log.append(
        session, study.id, administrator.name, "study closed",
        verdicts=count_verdicts(session, study), digest=verdicts_digest(session, study),
        tables=said_so_far(session, study),
    )  # fmt: skip
    return study


def reopen_study(session: Session, code: str, administrator: Administrator) -> Study:
    """Raters can go on. Never after unblinding."""
    require(administrator, Role.MANAGE)
    study = locked_study(session, code)
    if study.state is StudyState.OPEN:
        raise Conflict(N_("The study “%(name)s” is open."), name=study.name)
    if study.state is StudyState.UNBLINDED:
        raise Conflict(N_("The study “%(name)s” was unblinded, so no verdict can be taken any more."), name=study.name)
    study.state, study.closed_at = StudyState.OPEN, None
    two_persons.drop(session, study, administrator.name, "opened again")
    log.append(session, study.id, administrator.name, "study opened again")
    return study


def unblind_study(
    session: Session,
    settings: Settings,
    code: str,
    administrator: Administrator,
    *,
    typed_name: str,
    reason: str,
    before: Look | None = None,
) -> Study:
    """Open the seal for everyone who may read the study. Cannot be undone. The password was checked before.

    Where it takes two persons, the first call only asks, and the study stays closed until a second person says yes.
    `before`: what was found beforehand, which is believed where nothing has changed since.
    """
    require(administrator, Role.UNBLIND)
    study = locked_study(session, code)
    asked = two_persons.pending(session, study)
    if typed_name.strip() != study.name:
        raise Invalid(
            N_("You typed “%(typed)s”, and the study’s name is “%(name)s”."), typed=typed_name.strip(), name=study.name
        )
    if asked is None:
        reason = checked_reason(
            reason, N_("Say why the study is unblinded; the reason is written in its log and its report.")
        )
    if study.state is StudyState.UNBLINDED:
        raise Conflict(N_("The study “%(name)s” was unblinded already."), name=study.name)
    if asked is not None:
        two_persons.require_another(session, study, asked.actor, administrator.name)
    if before is None or not still_holds(session, study, before):
        before = look(session, settings, study)
    before = before._replace(so_far=so_far(session, study, before.so_far))
    if faults := bars(checks(session, study, before.opened, before.so_far)):
        raise Conflict(N_("The study was not unblinded. %(faults)s"), faults=tuple(faults))
    if two_persons.needs_two(study) and asked is None:
        two_persons.ask(session, study, administrator, reason)
        return study
    _unblind(session, study, before, administrator.name, asked, reason)
    return study


def _unblind(
    session: Session, study: Study, before: Look, name: str, asked: UnblindingRequest | None, reason: str
) -> None:
    opened = before.opened
    _write_opened(session, study, opened, before.seconds)
    forget_fingerprints(session, study.id)  # nobody joins any more
    study.state, study.unblinded_at = StudyState.UNBLINDED, clock.now()
    study.unblinded_by = two_persons.both(asked.actor, name) if asked else name
    study.unblinding_reason = asked.reason if asked else reason
    study.secret, study.opened = opened.secret.hex(), {"replaced": opened.replaced}
    first = {"asked_by": asked.actor} if asked else {}
    if asked:
        session.delete(asked)
    log.append(
        session, study.id, name, "study unblinded", **first,
        seal=study.seal_root, secret=study.secret, key=digest(sorted(opened.items.values(), key=lambda i: i["code"])),
        verdicts=count_verdicts(session, study), digest=before.so_far.verdicts,
        tables=before.so_far.tables, reason=digest(study.unblinding_reason),
    )  # fmt: skip


def unblind(
    transactions: OpenTransaction,
    reads: OpenTransaction,
    settings: Settings,
    code: str,
    name: str,
    *,
    password: str,
    typed_name: str,
    reason: str,
) -> StudyState:
    """The whole act, by the administrator of this name. Returns the state it led to: still closed where a second
    person has to say yes. An attempt that comes to nothing is in the log all the same: it is written in a
    transaction that outlives the refusal.
    """
    try:
        administrator_id = check_password(transactions, name, password)
        before = _beforehand(reads, settings, code, administrator_id)
        with transactions() as session:
            administrator = session.get_one(Administrator, administrator_id)
            study = unblind_study(
                session, settings, code, administrator, typed_name=typed_name, reason=reason, before=before
            )
            return study.state
    except AppError as refusal:
        with transactions() as session:
            log.append(session, locked_study(session, code).id, name, "unblinding refused", why=refusal.message)
        raise


def _beforehand(reads: OpenTransaction, settings: Settings, code: str, administrator_id: int) -> Look:
    """SQLite has one writer: raters of every study would wait while all items are opened."""
    with reads() as session:
        require(session.get_one(Administrator, administrator_id), Role.UNBLIND)
        return look(session, settings, find_study(session, code))


def _write_opened(session: Session, study: Study, opened: Opened, seconds: dict[int, float]) -> None:
    arms = session.scalars(select(Arm.id).where(Arm.study_id == study.id).order_by(Arm.id)).all()
    session.execute(
        insert(OpenedItem),
        [
            {
                "item_id": item_id,
                "arm_id": arms[key["arm"]],
                "unit_kind": key["unit_kind"],
                "layer": key["layer"],
                "index": key["number"],
                "salt": key["salt"],
                "order": key["order"] if key["kind"] == "check" else None,
                "shading": key.get("shading", LEVEL),
                "serving_seconds": seconds.get(item_id),
            }
            for item_id, key in opened.items.items()
        ],
    )
