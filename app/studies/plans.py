"""The plan of a study as it was sealed, and its amendments: dated, with a reason, each a line of the log."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import log
from app.errors import Conflict, Invalid, NotFound
from app.models import Administrator, Amendment, Arm, Rater, Study, StudyState
from app.reports.statistics.plan import Plan
from app.roles import Role, require
from app.studies import two_persons
from app.studies.asked import FOLLOWS
from app.studies.queries import count_verdicts, locked_study
from app.studies.reasons import checked_reason
from app.studies.seal import digest
from app.words.said import N_, Said

AMENDABLE = tuple(field.name for field in fields(Plan) if field.name not in FOLLOWS)


def amendments(session: Session, study: Study) -> list[Amendment]:
    """All of them, first to last."""
    found = select(Amendment).where(Amendment.study_id == study.id).order_by(Amendment.number)
    return list(session.scalars(found))


def plan_now(study: Study, amended: list[Amendment]) -> dict[str, Any]:
    """The whole plan with every field, as it stands: the newest amendment, or else what was sealed."""
    return Plan.of(amended[-1].plan if amended else study.plan).as_dict()


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The fields in which two plans differ, with both values; what is not written down has its usual value."""
    one, two = Plan.of(before).as_dict(), Plan.of(after).as_dict()
    return {name: (one[name], two[name]) for name in AMENDABLE if one[name] != two[name]}


def amend_plan(
    session: Session, code: str, administrator: Administrator, changes: Mapping[str, str], reason: str
) -> Amendment:
    """Write another plan down beside the sealed one. Values are as people type them. Never after unblinding."""
    require(administrator, Role.MANAGE)
    study = locked_study(session, code)
    if study.state is StudyState.UNBLINDED:
        raise Conflict(
            N_("The study “%(name)s” was unblinded, so its plan cannot be amended any more."), name=study.name
        )
    reason = checked_reason(reason, N_("Say why the plan is amended; the reason is shown beside it."))
    earlier = amendments(session, study)
    before = plan_now(study, earlier)
    plan = _amended(session, study, before, changes)
    if plan == before:
        raise Invalid(N_("Nothing in the plan was changed, so there is nothing to write down."))
    made = Amendment(
        study_id=study.id, number=len(earlier) + 1, actor=administrator.name, reason=reason, plan=plan,
        plan_digest=digest(plan), verdicts=count_verdicts(session, study),
    )  # fmt: skip
    session.add(made)
    two_persons.drop(session, study, administrator.name, "plan amended")
    log.append(
        session, study.id, administrator.name, "plan amended",
        number=made.number, plan=made.plan_digest, before=earlier[-1].plan_digest if earlier else study.plan_digest,
        reason=digest(reason), verdicts=made.verdicts,
    )  # fmt: skip
    return made


def _amended(session: Session, study: Study, before: dict[str, Any], changes: Mapping[str, str]) -> dict[str, Any]:
    values = dict(before)
    for name, text in changes.items():
        if name not in AMENDABLE:
            raise Invalid(
                N_("“%(name)s” is nothing in a plan that can be amended. It can be: %(those)s."),
                name=name, those=", ".join(AMENDABLE),
            )  # fmt: skip
        values[name] = _raters(session, study, text) if name == "excluded_raters" else value_of(name, text)
    conditions = set(session.scalars(select(Arm.condition).where(Arm.study_id == study.id)))
    if values["baseline"] not in conditions:
        raise Invalid(
            N_("The baseline must be one of %(those)s; it is “%(name)s”."),
            those=", ".join(sorted(conditions)), name=values["baseline"],
        )  # fmt: skip
    try:
        return Plan.of(values).as_dict()
    except ValueError as error:
        raise Invalid(error.args[0]) from None


KINDS = {bool: N_("yes or no"), int: N_("a whole number"), float: N_("a number")}


def value_of(name: str, text: str) -> Any:
    """What was typed, as the field takes it. Raises Invalid with what does not fit."""
    usual = getattr(Plan(baseline=""), name)
    text = text.strip()
    try:
        if isinstance(usual, bool):
            return {"yes": True, "no": False}[text.lower()]
        return type(usual)(text)
    except (KeyError, ValueError):
        raise Invalid(
            N_("%(name)s takes %(kind)s; you gave “%(text)s”."), name=name, kind=Said(KINDS[type(usual)]), text=text
        ) from None


def _raters(session: Session, study: Study, text: str) -> list[str]:
    """The codes of raters who were given by code or by name, with commas between them."""
    raters = session.execute(select(Rater.code, Rater.name).where(Rater.study_id == study.id)).all()
    known = {**{name: code for code, name in raters}, **{code: code for code, _ in raters}}
    wanted = [part.strip() for part in text.split(",") if part.strip()]
    for one in wanted:
        if one not in known:
            raise NotFound(N_("There is no rater “%(name)s” in this study."), name=one)
    return sorted({known[one] for one in wanted})
