from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from sqlalchemy import Row, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from app import clock
from app.errors import NotFound
from app.models import (
    Administrator,
    Assignment,
    Invitation,
    OwnRater,
    PanelMember,
    Rater,
    RaterKind,
    RaterPhase,
    Rating,
    Sitting,
    Study,
    StudyState,
)
from app.raters.flags import Flag, Work, blind, flags
from app.raters.invitations import LinkState, link_state
from app.raters.panel import Arrival
from app.raters.work import work_of
from app.rating.completion import own_code
from app.rating.sittings import LONGEST_GAP, is_over
from app.rating.statements import GIVEN_STATES, given_and_not_undone
from app.rating.terms import Terms
from app.settings import Settings
from app.web.security import token_hash


@dataclass(frozen=True, kw_only=True)
class RaterRow:
    """A rater, or a link that nobody has opened yet, as the administrator sees them: how they work, never on what."""

    name: str
    code: str | None
    """The rater's; None for a link that nobody has opened."""
    invitation_code: str | None
    kind: RaterKind
    link: LinkState | Literal["deactivated", "withdrawn"]
    phase: RaterPhase | None
    reusable: bool
    last_seen_at: datetime | None
    done: int
    share: int | None
    finished: bool
    median_seconds: float | None
    active_minutes: float
    flags: list[Flag]
    panel: str | None = None
    """Who they are to the panel that sent them."""
    completion_code: str = ""
    """What they are given when they have done everything."""
    joined: int | None = None
    """Of a link that lets in many: how many are in by it, and how many at most."""
    most: int | None = None


@dataclass(frozen=True, kw_only=True)
class SittingRow:
    """One stay of a rater."""

    code: str
    rater: str
    state: Literal["in", "idle", "ended"]
    started_at: datetime
    last_seen_at: datetime
    verdicts: int
    active_minutes: float
    ended_by: str | None
    paused: bool
    """The rater ended it."""
    may_reopen: bool
    """It is the newest of its rater, who has not paused."""


def study_by_code(session: Session, code: str) -> Study:
    study = session.scalars(select(Study).where(Study.code == code)).one_or_none()
    if study is None:
        raise NotFound()
    return study


def study_of(session: Session, rater: Rater) -> Study:
    return session.get_one(Study, rater.study_id)


def invitation_by_token(session: Session, token: str) -> Invitation | None:
    return session.scalars(select(Invitation).where(Invitation.token_hash == token_hash(token))).one_or_none()


def study_state_of(session: Session, invitation: Invitation) -> StudyState:
    return session.scalars(select(Study.state).where(Study.id == invitation.study_id)).one()


def design_of(session: Session, invitation: Invitation) -> dict[str, Any]:
    design: dict[str, Any] = session.scalars(select(Study.design).where(Study.id == invitation.study_id)).one()
    return design


def terms_of(session: Session, invitation: Invitation) -> Terms:
    return Terms.of(session.scalars(select(Study.terms).where(Study.id == invitation.study_id)).one())


def rater_of(session: Session, invitation: Invitation, arrival: Arrival | None = None) -> Rater | None:
    """The rater whose own this link is; None while nobody has opened it.

    A link that lets in many is nobody's own, but brings whoever a panel names back to the rater they are.
    """
    if invitation.reusable:
        return _panel_rater(session, invitation, arrival) if arrival else None
    return session.scalars(select(Rater).where(Rater.invitation_id == invitation.id)).one_or_none()


def _panel_rater(session: Session, invitation: Invitation, arrival: Arrival) -> Rater | None:
    member = and_(PanelMember.study_id == invitation.study_id, PanelMember.person == arrival.person)
    statement = select(Rater).join(PanelMember, PanelMember.rater_id == Rater.id).where(member)
    return session.scalars(statement).one_or_none()


def link_is(session: Session, invitation: Invitation, at: datetime) -> LinkState:
    opened = rater_of(session, invitation) is not None
    return link_state(revoked_at=invitation.revoked_at, expires_at=invitation.expires_at, opened=opened, at=at)


def rater_rows(session: Session, study: Study, viewer: Administrator | None = None) -> list[RaterRow]:
    """The raters of a study by name, then the links that nobody has opened and those that let in many.

    `viewer` sees nothing of how they themselves did on controls and repeats, which they must not be able to spot.
    """
    at = clock.now()
    raters = session.execute(_raters(study)).all()
    opened = {row.Rater.invitation_id for row in raters}
    links = session.scalars(select(Invitation).where(Invitation.study_id == study.id).order_by(Invitation.name))
    work = work_of(session, study)
    own = own_raters(session, study, viewer) if viewer else set()
    terms = Terms.of(study.terms)
    rows = [
        _rater_row(row, at, terms, flags(blind(found) if row.Rater.id in own else found))
        for row in raters
        for found in [work.get(row.Rater.id, Work())]
    ]
    joined = Counter(row.Rater.invitation_id for row in raters if row.Rater.deactivated_at is None)
    return rows + [_link_row(link, at, joined[link.id]) for link in links if link.reusable or link.id not in opened]


class RaterName(NamedTuple):
    code: str
    name: str


def rater_names(session: Session, study: Study) -> list[RaterName]:
    """Everybody who came in, by name: for choosing them on a page, which need not know how they work."""
    named = select(Rater.code, Rater.name).where(Rater.study_id == study.id).order_by(Rater.name)
    return [RaterName(code, name) for code, name in session.execute(named)]


def own_raters(session: Session, study: Study, viewer: Administrator) -> set[int]:
    """The raters who this administrator is: joined or signed in from one browser, or of the same name."""
    known = select(OwnRater.rater_id).where(OwnRater.administrator_id == viewer.id)
    mine = select(Rater.id).where(Rater.study_id == study.id, or_(Rater.name == viewer.name, Rater.id.in_(known)))
    return set(session.scalars(mine))


def sitting_rows(session: Session, settings: Settings, study: Study, newest: int = 20) -> list[SittingRow]:
    """The newest sittings of a study."""
    at = clock.now()
    verdicts = select(func.count()).where(Rating.sitting_id == Sitting.id, given_and_not_undone())
    last = select(func.max(Sitting.id)).group_by(Sitting.rater_id)
    statement = (
        select(Sitting, Rater.name, verdicts.correlate(Sitting).scalar_subquery(), Sitting.id.in_(last))
        .join(Rater, Rater.id == Sitting.rater_id)
        .where(Rater.study_id == study.id)
        .order_by(Sitting.last_seen_at.desc(), Sitting.id.desc())
        .limit(newest)
    )
    return [
        SittingRow(
            code=sitting.code,
            rater=name,
            state=sitting_state(sitting, at, settings.idle),
            started_at=sitting.started_at,
            last_seen_at=sitting.last_seen_at,
            verdicts=count,
            active_minutes=sitting.active_seconds / 60,
            ended_by=sitting.ended_by,
            paused=sitting.paused,
            may_reopen=is_last and not sitting.paused,
        )
        for sitting, name, count, is_last in session.execute(statement)
    ]


def sitting_state(sitting: Sitting, at: datetime, idle: timedelta) -> Literal["in", "idle", "ended"]:
    if is_over(sitting.last_seen_at, sitting.ended_at, at, idle):
        return "ended"
    return "in" if at - sitting.last_seen_at <= LONGEST_GAP else "idle"


def _raters(study: Study) -> Select[Any]:
    done = select(func.count()).where(Assignment.rater_id == Rater.id, Assignment.state.in_(GIVEN_STATES))
    stay = (
        select(
            Sitting.rater_id, func.max(Sitting.last_seen_at).label("seen"), func.sum(Sitting.active_seconds).label("s")
        )
        .join(Rater, Rater.id == Sitting.rater_id)
        .where(Rater.study_id == study.id)
        .group_by(Sitting.rater_id)
        .subquery()
    )
    medians = _median_seconds(study).subquery()
    return (
        select(
            Rater,
            Invitation,
            done.correlate(Rater).scalar_subquery().label("done"),
            stay.c.seen,
            stay.c.s.label("active_seconds"),
            medians.c.median,
            PanelMember.person,
        )
        .outerjoin(Invitation, Invitation.id == Rater.invitation_id)
        .outerjoin(PanelMember, PanelMember.rater_id == Rater.id)
        .outerjoin(stay, stay.c.rater_id == Rater.id)
        .outerjoin(medians, medians.c.rater_id == Rater.id)
        .where(Rater.study_id == study.id)
        .order_by(Rater.name)
    )


def _median_seconds(study: Study) -> Select[Any]:
    """A row a rater: the median time of a verdict. Done by the database, so that no verdict is read."""
    ranked = (
        select(
            Rater.id.label("rater_id"),
            Rating.seconds,
            func.row_number().over(partition_by=Rater.id, order_by=Rating.seconds).label("rank"),
            func.count().over(partition_by=Rater.id).label("n"),
        )
        .join(Assignment, Assignment.rater_id == Rater.id)
        .join(Rating, and_(Rating.assignment_id == Assignment.id, given_and_not_undone()))
        .where(Rater.study_id == study.id)
        .subquery()
    )
    middle = ranked.c.rank.in_(((ranked.c.n + 1) // 2, (ranked.c.n + 2) // 2))
    return (
        select(ranked.c.rater_id, func.avg(ranked.c.seconds).label("median")).where(middle).group_by(ranked.c.rater_id)
    )


def _rater_row(row: Row[Any], at: datetime, terms: Terms, flags: list[Flag]) -> RaterRow:
    rater, invitation = row.Rater, row.Invitation
    revoked_at = invitation.revoked_at if invitation else None
    state = link_state(revoked_at=revoked_at, expires_at=None, opened=True, at=at)
    return RaterRow(
        name=rater.name,
        code=rater.code,
        invitation_code=None if invitation is None or invitation.reusable else invitation.code,
        kind=rater.kind,
        link="withdrawn" if rater.withdrawn_at else "deactivated" if rater.deactivated_at else state,
        phase=rater.phase,
        reusable=invitation is not None and invitation.reusable,
        last_seen_at=row.seen,
        done=row.done,
        share=rater.share,
        finished=rater.finished_at is not None,
        median_seconds=row.median,
        active_minutes=(row.active_seconds or 0.0) / 60,
        flags=flags,
        panel=row.person,
        completion_code=own_code(terms, rater) if terms.own_codes else "",
    )


def _link_row(invitation: Invitation, at: datetime, joined: int) -> RaterRow:
    return RaterRow(
        name=invitation.name,
        code=None,
        invitation_code=invitation.code,
        kind=invitation.kind,
        link=link_state(revoked_at=invitation.revoked_at, expires_at=invitation.expires_at, opened=False, at=at),
        phase=None,
        reusable=invitation.reusable,
        last_seen_at=None,
        done=0,
        share=None,
        finished=False,
        median_seconds=None,
        active_minutes=0.0,
        flags=[],
        joined=joined,
        most=invitation.most_raters,
    )
