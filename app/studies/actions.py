from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app import clock, log
from app.administrators.actions import check_password
from app.db import OpenTransaction
from app.errors import AppError, Conflict, Invalid, Refused
from app.models import Administrator, Arm, OpenedItem, Study, StudyState
from app.settings import Settings
from app.studies.opening import Opened, open_study
from app.studies.queries import count_verdicts, locked_study, verdicts_digest
from app.studies.seal import digest
from app.studies.unblinding import bars, checks

MAY_NOT_MANAGE = "You may look at this study, but not change it. Ask an administrator who may manage studies."
LONGEST_REASON = 2000
MAY_NOT_UNBLIND = "You may not unblind studies. Ask an administrator who may."


def require_manager(administrator: Administrator) -> None:
    if not administrator.may_manage:
        raise Refused(MAY_NOT_MANAGE)


def require_unblinder(administrator: Administrator) -> None:
    if not administrator.may_unblind:
        raise Refused(MAY_NOT_UNBLIND)


def close_study(session: Session, code: str, administrator: Administrator) -> Study:
    """No verdict is taken from now on. The study stays blind, and can be opened again."""
    require_manager(administrator)
    study = locked_study(session, code)
    if study.state is not StudyState.OPEN:
        raise Conflict(f"The study “{study.name}” is closed already.")
    study.state, study.closed_at = StudyState.CLOSED, clock.now()
    log.append(
        session, study.id, administrator.name, "study closed",
        verdicts=count_verdicts(session, study), digest=verdicts_digest(session, study),
    )  # fmt: skip
    return study


def reopen_study(session: Session, code: str, administrator: Administrator) -> Study:
    """Raters can go on. Never after unblinding."""
    require_manager(administrator)
    study = locked_study(session, code)
    if study.state is StudyState.OPEN:
        raise Conflict(f"The study “{study.name}” is open.")
    if study.state is StudyState.UNBLINDED:
        raise Conflict(f"The study “{study.name}” was unblinded, so no verdict can be taken any more.")
    study.state, study.closed_at = StudyState.OPEN, None
    log.append(session, study.id, administrator.name, "study opened again")
    return study


def unblind_study(
    session: Session, settings: Settings, code: str, administrator: Administrator, *, typed_name: str, reason: str
) -> Study:
    """Open the seal for everyone who may read the study. Cannot be undone. The password was checked before."""
    require_unblinder(administrator)
    study = locked_study(session, code)
    reason = reason.strip()
    if typed_name.strip() != study.name:
        raise Invalid(f"You typed “{typed_name.strip()}”, and the study's name is “{study.name}”.")
    if not reason:
        raise Invalid("Say why the study is unblinded; the reason is written in its log and its report.")
    if len(reason) > LONGEST_REASON:
        raise Invalid(f"The reason has {len(reason)} characters; at most {LONGEST_REASON} are kept. Shorten it.")
    if study.state is StudyState.UNBLINDED:
        raise Conflict(f"The study “{study.name}” was unblinded already.")
    opened = open_study(session, settings, study)
    if faults := bars(checks(session, study, opened)):
        raise Conflict("The study was not unblinded. " + " ".join(faults))
    _write_opened(session, study, opened)
    study.state, study.unblinded_at = StudyState.UNBLINDED, clock.now()
    study.unblinded_by, study.unblinding_reason = administrator.name, reason
    study.secret, study.opened = opened.secret.hex(), {"replaced": opened.replaced}
    log.append(
        session, study.id, administrator.name, "study unblinded",
        seal=study.seal_root, secret=study.secret, key=digest(sorted(opened.items.values(), key=lambda i: i["code"])),
        verdicts=count_verdicts(session, study), digest=verdicts_digest(session, study), reason=digest(reason),
    )  # fmt: skip
    return study


def unblind(
    transactions: OpenTransaction,
    settings: Settings,
    code: str,
    name: str,
    *,
    password: str,
    typed_name: str,
    reason: str,
) -> None:
    """The whole act, by the administrator of this name. An attempt that comes to nothing is in the log all the same:
    it is written in a transaction that outlives the refusal.
    """
    try:
        administrator_id = check_password(transactions, name, password)
        with transactions() as session:
            administrator = session.get_one(Administrator, administrator_id)
            unblind_study(session, settings, code, administrator, typed_name=typed_name, reason=reason)
    except AppError as refusal:
        with transactions() as session:
            log.append(session, locked_study(session, code).id, name, "unblinding refused", why=refusal.message)
        raise


def _write_opened(session: Session, study: Study, opened: Opened) -> None:
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
            }
            for item_id, key in opened.items.items()
        ],
    )
