"""What is checked before a study is unblinded, and shown to who is about to do it."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy.orm import Session

from app.log import Line
from app.models import Study, StudyState
from app.studies.early import opened_early
from app.studies.opening import Opened
from app.studies.plans import amendments
from app.studies.queries import count_held, count_verdicts, count_wanted, first_verdict_at
from app.studies.seal import digest, leaf
from app.studies.so_far import SoFar, so_far
from app.words.language import N_
from app.words.said import Said

SHOWN = 3
"""Of the faults of an allocation, so many are told."""


class Check(NamedTuple):
    """One line of the list."""

    good: bool
    what: str
    """A sentence that is true as things stand; English, as the detail is, and said in the reader's language."""
    detail: str
    digest: str = ""
    """Beside it, where there is one."""
    bars: bool = True
    """Where it is not good, the study cannot be unblinded."""


def checks(session: Session, study: Study, opened: Opened, read: SoFar | None = None) -> list[Check]:
    """All of them. Nothing of the allocation is in any sentence.

    `read`: what log and raters have said, where it was read already.
    """
    said = read or so_far(session, study)
    return [
        _closed(session, study),
        _plan(session, study),
        *_amendments(session, study, said.acts),
        *_opened_early(session, study, said.acts),
        _allocation(study, opened),
        _unchanged(study, said),
        _log(study, said),
        _leases(session, study),
    ]


def bars(found: list[Check]) -> list[str]:
    """The sentences of what keeps the study sealed."""
    barring = [check for check in found if check.bars and not check.good]
    return [Said(N_("%(what)s. %(detail)s"), what=_own(check.what), detail=_own(check.detail)) for check in barring]


def _own(sentence: str) -> Said:
    """One of ours, to be said in the reader's language."""
    return sentence if isinstance(sentence, Said) else Said(sentence)


def _closed(session: Session, study: Study) -> Check:
    done, wanted = count_verdicts(session, study), count_wanted(session, study)
    if study.state is StudyState.OPEN:
        detail = Said(N_("%(done)s of %(wanted)s verdicts. Close it first."), done=done, wanted=wanted)
        return Check(False, N_("The study is still open"), detail)
    detail = Said(N_("%(at)s. %(done)s of %(wanted)s verdicts."), at=study.closed_at, done=done, wanted=wanted)
    return Check(True, N_("The study is closed"), detail)


def _plan(session: Session, study: Study) -> Check:
    first = first_verdict_at(session, study)
    fixed = digest(study.plan) == study.plan_digest and (first is None or study.created_at <= first)
    what = N_("The plan was fixed before the first verdict") if fixed else N_("The plan is not the one that was fixed")
    return Check(fixed, what, Said("%(at)s", at=study.created_at), study.plan_digest)


def _amendments(session: Session, study: Study, events: Sequence[Line]) -> list[Check]:
    """One line for all of them, if there are any: each is in the log as it is stored."""
    made = amendments(session, study)
    logged = [(e.detail.get("number"), e.detail.get("plan")) for e in events if e.what == "plan amended"]
    stored = [(one.number, digest(one.plan)) for one in made]
    if not made and not logged:
        return []
    if logged != stored or any(one.plan_digest != digest(one.plan) for one in made):
        return [Check(False, N_("The amendments of the plan are not those in the log"), N_("Somebody changed one."))]
    last = made[-1]
    detail = Said(N_("The last on %(at)s, after %(n)s verdicts. Both plans are reported."), at=last.at, n=last.verdicts)
    return [Check(True, N_("The plan was amended, and every amendment is in the log"), detail, last.plan_digest)]


def _opened_early(session: Session, study: Study, events: Sequence[Line]) -> list[Check]:
    """One line for all items that were opened early, if there are any."""
    stored = sorted((one.code, leaf(one.opening.key)) for one in opened_early(session, study))
    logged = sorted(
        (str(e.detail.get("item")), str(e.detail.get("leaf"))) for e in events if e.what == "item opened early"
    )
    if not stored and not logged:
        return []
    if stored != logged:
        return [
            Check(False, N_("The items that were opened early are not those in the log"), N_("Somebody changed one."))
        ]
    return [Check(True, N_("Items were opened early, each in the log"), N_("They are left out of the main figure."))]


def _allocation(study: Study, opened: Opened) -> Check:
    if opened.faults:
        told = [_own(fault) for fault in opened.faults[:SHOWN]]
        if len(opened.faults) > SHOWN:
            told.append(Said(N_("And %(n)s more."), n=len(opened.faults) - SHOWN))
        detail = Said("%(faults)s", faults=tuple(told))
        return Check(False, N_("The allocation is not the one that was sealed"), detail)
    return Check(
        True,
        N_("The allocation is the one that was sealed"),
        N_("The secret draws it again, item by item."),
        study.seal_root,
    )


def _unchanged(study: Study, said: SoFar) -> Check:
    closed, now = [event for event in said.acts if event.what == "study closed"], said.verdicts
    tables = closed[-1].detail.get("tables") if closed else None  # first studies were closed without
    if closed and closed[-1].detail.get("digest") == now:
        if any(tables.get(name) != found for name, found in said.tables.items() if tables):
            return Check(
                False, N_("What raters said is not fixed"), N_("It is not as it was at closing: somebody changed it.")
            )
        return Check(True, N_("The verdicts are as they were at closing"), N_("Every version of every verdict."), now)
    detail = (
        N_("They are fixed by closing.") if study.state is StudyState.OPEN else N_("They are not those at closing.")
    )
    return Check(False, N_("The verdicts are not fixed"), detail, bars=study.state is not StudyState.OPEN)


def _log(study: Study, said: SoFar) -> Check:
    broken = said.broken
    if broken is None and (said.lines, said.head) == (study.log_lines, study.log_head):
        lines = Said(N_("%(n)s lines, each carrying the hash of the one before."), n=said.lines)
        return Check(True, N_("The log is whole"), lines, study.log_head)
    follows = N_("Line %(n)s does not follow from the one before.")
    where = Said(follows, n=broken) if broken else N_("Its end is missing.")
    return Check(False, N_("The log is not whole"), where)


def _leases(session: Session, study: Study) -> Check:
    held = count_held(session, study)
    if held == 0:
        return Check(True, N_("Nobody holds a neuron"), N_("Every neuron that was shown has its verdict or went back."))
    return Check(
        False,
        Said(N_("%(n)s in hand and without a verdict"), n=held),
        N_("They stay without one once it is unblinded."),
        bars=False,
    )
