"""The pages before and after rating. A write answers with the page that comes next; for htmx, its inner part."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request
from fastapi.responses import Response

from app.conditions import condition_name
from app.errors import Conflict, NotFound
from app.models import Rater, RaterPhase, Verdict
from app.phases import actions, pausing, queries
from app.rating.beside import beside
from app.rating.phases import PLACES
from app.store.db import ReadSession, WriteSession
from app.web.pages import redirect, render, trusted, wants_fragment
from app.web.params import AppSettings, FormText
from app.web.security import ReadingRater, WritingRater

router = APIRouter()

Number = Annotated[int, Form(ge=1, le=1_000_000)]
Condition = Annotated[str, Form(max_length=40)]


@router.get("/practice")
def practice(request: Request, session: ReadSession, rater: ReadingRater) -> Response:
    return _here(request, session, rater, RaterPhase.PRACTICE)


@router.get("/practice/wide/{number}")
def wider(session: ReadSession, rater: ReadingRater, number: Annotated[int, Path(ge=1, le=1000)]) -> Response:
    fragment = queries.wide_practice(session, rater, number) if rater.phase is RaterPhase.PRACTICE else None
    if fragment is None:
        raise NotFound
    return Response(fragment, media_type="text/html; charset=utf-8")


@router.post("/practice/verdict")
def practise(
    request: Request,
    session: WriteSession,
    settings: AppSettings,
    rater: WritingRater,
    number: Number,
    verdict: Annotated[Verdict, Form()],
    hypothesis: FormText = "",
) -> Response:
    return _after(
        request, session, rater, RaterPhase.PRACTICE,
        lambda: actions.answer_practice(session, settings, rater, number, verdict, hypothesis),
    )  # fmt: skip


@router.post("/practice/next")
def read_lesson(
    request: Request, session: WriteSession, settings: AppSettings, rater: WritingRater, number: Number
) -> Response:
    return _after(
        request, session, rater, RaterPhase.PRACTICE, lambda: actions.read_lesson(session, settings, rater, number)
    )


@router.post("/next-part")
def leave_rating(request: Request, session: WriteSession, settings: AppSettings, rater: WritingRater) -> Response:
    actions.leave_rating(session, settings, rater)
    return redirect(request, PLACES.get(rater.phase, "/rate"))


@router.post("/part/pause")
def pause(request: Request, session: WriteSession, settings: AppSettings, rater: WritingRater) -> Response:
    pausing.pause(session, settings, rater)
    return redirect(request, PLACES.get(rater.phase, "/rate"))


@router.post("/part/go-on")
def go_on(request: Request, session: WriteSession, settings: AppSettings, rater: WritingRater) -> Response:
    pausing.go_on(session, settings, rater)
    return redirect(request, PLACES.get(rater.phase, "/rate"))


@router.get("/check")
def check(request: Request, session: ReadSession, rater: ReadingRater) -> Response:
    return _here(request, session, rater, RaterPhase.CHECK)


@router.post("/check/answer")
def answer_check(
    request: Request,
    session: WriteSession,
    settings: AppSettings,
    rater: WritingRater,
    number: Number,
    fires: Annotated[list[int], Form()] = [],  # noqa: B006  # FastAPI copies it
) -> Response:
    return _after(
        request, session, rater, RaterPhase.CHECK,
        lambda: actions.answer_check(session, settings, rater, number, fires),
    )  # fmt: skip


@router.post("/check/stop")
def stop_checking(request: Request, session: WriteSession, settings: AppSettings, rater: WritingRater) -> Response:
    actions.stop_checking(session, settings, rater)
    return redirect(request, PLACES.get(rater.phase, "/rate"))


@router.get("/guesses")
def guesses(request: Request, session: ReadSession, rater: ReadingRater) -> Response:
    return _here(request, session, rater, RaterPhase.GUESSES)


@router.post("/guesses/guess")
def guess(
    request: Request,
    session: WriteSession,
    settings: AppSettings,
    rater: WritingRater,
    number: Number,
    guess: Condition,
) -> Response:
    return _after(
        request, session, rater, RaterPhase.GUESSES,
        lambda: actions.guess(session, settings, rater, number, guess),
    )  # fmt: skip


def _after(
    request: Request, session: ReadSession, rater: Rater, phase: RaterPhase, act: Callable[[], None]
) -> Response:
    """Do it, and show what comes next; an old page leads to the current one, with a word about it."""
    try:
        act()
    except Conflict as conflict:
        return _here(request, session, rater, phase, notice=conflict.message)
    if wants_fragment(request):
        return _here(request, session, rater, phase)
    return redirect(request, PLACES.get(rater.phase, "/rate"))


def _here(
    request: Request, session: ReadSession, rater: Rater, phase: RaterPhase, *, notice: str | None = None
) -> Response:
    """The page of this phase, or the way to where the rater is."""
    if rater.phase is not phase:
        return redirect(request, PLACES.get(rater.phase, "/rate"))
    page = PAGES[phase](session, rater)
    if page is None:
        raise NotFound
    return render(
        request,
        "phases/page.html",
        block="rate",
        status_code=409 if notice else 200,
        page=page,
        phase=phase.value,
        state=_state(page),
        fragment=trusted(page.fragment),
        rated=trusted(page.rated) if isinstance(page, queries.CheckPage) else None,
        condition_name=condition_name,
        unknown=actions.UNKNOWN,
        rater=rater.code,
        notice=notice,
        **beside(page.seconds, page.fragment),
    )


def _state(page: queries.PhasePage) -> str:
    if not page.open:
        return "closed"
    if page.resting:
        return "resting"
    return "lesson" if isinstance(page, queries.PracticePage) and page.answer is not None else "item"


PAGES: dict[RaterPhase, Callable[[ReadSession, Rater], queries.PhasePage | None]] = {
    RaterPhase.PRACTICE: queries.practice_page,
    RaterPhase.CHECK: queries.check_page,
    RaterPhase.GUESSES: queries.guess_page,
}
