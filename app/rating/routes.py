"""The rater's pages. Every write answers with the page that comes next: whole, or its inner part for htmx."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from app import clock
from app.errors import Conflict, NotFound
from app.models import RaterPhase, Verdict
from app.rating import actions, pausing, queries
from app.rating.beside import beside
from app.rating.completion import completion_of
from app.rating.day import minutes_east_of, next_day, there, zone_name
from app.rating.locked import LockedRater, SomeRater, lock_rater_of
from app.rating.phases import PLACES, next_phase
from app.rating.stays import own_stays
from app.rating.words import KEY_NAMES, PALETTE_NAMES, THEME_NAMES, VERDICT_WORDS
from app.settings import Settings
from app.store.db import ReadSession, SeparateReads, WriteSession
from app.store.writer import writer_of
from app.web.form import described, read_form
from app.web.pages import redirect, render, trusted, wants_fragment
from app.web.params import AppSettings, Code, FormText, NoNul
from app.web.security import RATER_COOKIE, ReadingRater, find_rater, reading_rater

router = APIRouter()


def locked_rater(request: Request, session: WriteSession) -> LockedRater:
    return lock_rater_of(session, request.cookies.get(RATER_COOKIE))


WhoWrites = Annotated[LockedRater, Depends(locked_rater)]

ASSIGNMENT, KEY = r"^[A-Za-z0-9_-]+$", r"^[A-Za-z0-9_-]{8,64}$"
AssignmentCode = Annotated[str, Form(alias="assignment", max_length=64, pattern=ASSIGNMENT)]
Key = Annotated[str, Form(alias="key", max_length=64, pattern=KEY)]
Ticks = list[Annotated[str, Field(max_length=200), NoNul]]
"""Several boxes of one name, and a hidden field that scripts fill: any value means yes."""


class VerdictForm(BaseModel):
    assignment: Annotated[str, Field(max_length=64, pattern=ASSIGNMENT)]
    verdict: Verdict
    key: Annotated[str, Field(max_length=64, pattern=KEY)]
    hypothesis: Annotated[str, Field(max_length=10_000), NoNul] = ""
    lined_up: Ticks = []
    widened: Ticks = []


@router.post("/rate/verdict", openapi_extra=described(VerdictForm))
async def give(request: Request) -> Response:
    """Without dependencies, so that there can be a shortcut to it: it is asked for most."""
    settings: Settings = request.app.state.settings
    form = await read_form(request, VerdictForm)

    def store(session: WriteSession) -> Page | None:
        """The page that comes next is read along."""
        rater, notice = locked_rater(request, session), None
        try:
            actions.submit(
                session, settings, rater, form.assignment, form.verdict, form.hypothesis, form.key,
                lined_up=any(form.lined_up), widened=any(form.widened),
            )  # fmt: skip
        except Conflict as conflict:  # the page in this tab is an old one: it leads to the current one
            notice = conflict.message
        if notice or wants_fragment(request):
            return _read(request, session, settings, rater, notice=notice)
        return None

    def answer(page: Page | None) -> Response:
        return redirect(request, "/rate") if page is None else _shown(request, page)

    return await writer_of(request)(store, answer)


@router.get("/rate")
def rate(request: Request, reads: SeparateReads, settings: AppSettings, wide: bool = False) -> Response:
    with reads() as session:
        rater = reading_rater(request, session)
        elsewhere = PLACES.get(rater.phase)
        if elsewhere:
            return redirect(request, elsewhere)
        return _shown(request, _read(request, session, settings, rater, wide=wide))


@router.get("/rate/wide/{assignment}")
def wider(session: ReadSession, rater: ReadingRater, assignment: Code) -> Response:
    """The snippets of the item in hand with more text: as many bytes, and as quick, for every item."""
    fragment = queries.wide_fragment(session, rater, assignment)
    if fragment is None:
        raise NotFound
    return Response(fragment, media_type="text/html; charset=utf-8")


@router.post("/rate/begin")
def begin(
    request: Request,
    session: WriteSession,
    settings: AppSettings,
    rater: WhoWrites,
    rested: Annotated[bool, Form()] = False,
) -> Response:
    actions.continue_sitting(session, settings, rater, restart_clock=rested)
    return redirect(request, "/rate")


@router.post("/rate/undo")
def undo(
    request: Request,
    session: WriteSession,
    settings: AppSettings,
    rater: WhoWrites,
    assignment: AssignmentCode,
    key: Key,
) -> Response:
    try:
        actions.undo(session, settings, rater, assignment, key)
    except Conflict as conflict:
        return _shown(request, _read(request, session, settings, rater, notice=conflict.message))
    return _next(request, session, settings, rater)


@router.post("/rate/draft", status_code=204)
def draft(
    session: WriteSession,
    settings: AppSettings,
    rater: WhoWrites,
    assignment: AssignmentCode,
    hypothesis: FormText = "",
) -> None:
    actions.save_draft(session, settings, rater, assignment, hypothesis)


@router.post("/rate/skip")
def skip(
    request: Request, session: WriteSession, settings: AppSettings, rater: WhoWrites, assignment: AssignmentCode
) -> Response:
    try:
        actions.skip(session, settings, rater, assignment)
    except Conflict as conflict:
        return _shown(request, _read(request, session, settings, rater, notice=conflict.message))
    return _next(request, session, settings, rater)


@router.post("/rate/pause")
def pause(
    request: Request,
    session: WriteSession,
    settings: AppSettings,
    rater: WhoWrites,
    assignment: AssignmentCode,
    hypothesis: FormText = "",
) -> Response:
    """The whole form of the verdict is sent here: what is being written is kept, and nothing is judged."""
    pausing.pause(session, settings, rater, assignment, hypothesis)
    return _next(request, session, settings, rater)


@router.get("/rate/sessions")
def own_sittings(request: Request, session: ReadSession, settings: AppSettings, rater: ReadingRater) -> Response:
    east = minutes_east_of(request.cookies.get("glance_east"))
    stays = own_stays(session, settings, rater)
    return render(
        request,
        "rating/sessions.html",
        stays=stays,
        zone=zone_name(east),
        there=partial(there, minutes_east=east),
        idle_minutes=settings.idle_minutes,
    )


@router.post("/rate/go-on")
def go_on(request: Request, session: WriteSession, settings: AppSettings, rater: WhoWrites) -> Response:
    actions.go_on(session, settings, rater)
    return redirect(request, "/rate")


@router.get("/rate/given")
def given(request: Request, session: ReadSession, rater: ReadingRater) -> Response:
    verdicts = queries.given_verdicts(session, rater)
    return render(request, "rating/given.html", given=verdicts, verdict_words=VERDICT_WORDS)


@router.get("/rate/given/{assignment}")
def look_again(request: Request, session: ReadSession, rater: ReadingRater, assignment: Code) -> Response:
    return _look_again(request, session, rater, assignment)


@router.post("/rate/given/{assignment}")
def change(
    request: Request,
    session: WriteSession,
    settings: AppSettings,
    rater: WhoWrites,
    assignment: Code,
    version: Annotated[int, Form(ge=1, le=1_000_000)],
    verdict: Annotated[Verdict, Form()],
    key: Key,
    hypothesis: FormText = "",
) -> Response:
    try:
        actions.edit(session, settings, rater, assignment, version, verdict, hypothesis, key)
    except Conflict as conflict:
        return _look_again(request, session, rater, assignment, notice=conflict.message)
    return redirect(request, "/rate/given")


@router.get("/thanks")
def thanks(request: Request, session: ReadSession, settings: AppSettings, rater: ReadingRater) -> Response:
    if (place := PLACES.get(rater.phase, "/thanks")) != "/thanks":
        return redirect(request, place)
    return _shown(request, _read(request, session, settings, rater))


@router.get("/help")
def help_page(request: Request, session: ReadSession) -> Response:
    """For everybody; a rater also reads what the people who run the study have to say."""
    rater = find_rater(request, session)
    instructions = queries.design_of(session, rater).get("instructions", "") if rater else ""
    return render(
        request, "rating/help.html", key_names=KEY_NAMES, palette_names=PALETTE_NAMES, theme_names=THEME_NAMES,
        instructions=instructions, is_rater=rater is not None,
    )  # fmt: skip


def _next(request: Request, session: WriteSession, settings: Settings, rater: SomeRater) -> Response:
    """What comes after a write: for htmx at once, for a plain form by a redirect, so that reloading is harmless."""
    if wants_fragment(request):
        return _shown(request, _read(request, session, settings, rater))
    return redirect(request, "/rate")


Page = dict[str, Any]
"""Everything that the rating page's template asks for."""


def _shown(request: Request, page: Page) -> Response:
    return render(request, "rating/page.html", block="rate", status_code=409 if page["notice"] else 200, **page)


def _read(
    request: Request,
    session: ReadSession,
    settings: Settings,
    rater: SomeRater,
    *,
    wide: bool = False,
    notice: str | None = None,
) -> Page:
    east = minutes_east_of(request.cookies.get("glance_east"))
    page = queries.rating_page(session, settings, rater, east)
    fragment = page.fragment
    if wide and page.code:
        fragment = queries.wide_fragment(session, rater, page.code) or fragment
    keeps = page.state in ("begin", "enough", "finished", "closed")  # between neurons, with room for the record
    return dict(
        page=page,
        fragment=trusted(fragment),
        record=queries.study_record(session, rater) if keeps else None,
        following=_following(session, rater) if page.state == "finished" else None,
        place=PLACES.get(rater.phase),
        completion=completion_of(session, settings, rater, page.done) if page.state == "finished" else None,
        rater=rater.code,
        wide=wide,
        notice=notice,
        today=page.today,
        zone=zone_name(east),
        again=_next_day_there(east) if page.state == "enough" else None,
        **beside(page.seconds, fragment, page.clock),
    )


def _next_day_there(east: int) -> tuple[datetime, datetime]:
    """When a rater who has reached the limit of a day goes on: in UTC, and on their clock."""
    again = next_day(clock.now())
    return again, there(again, east)


def _following(session: ReadSession, rater: SomeRater) -> str | None:
    """What a rater who has rated everything may go on to."""
    following = next_phase(rater.phase, queries.design_of(session, rater))
    return following.value if following and rater.phase is RaterPhase.RATING else None


def _look_again(
    request: Request, session: ReadSession, rater: SomeRater, assignment: str, *, notice: str | None = None
) -> Response:
    found = queries.given_fragment(session, rater, assignment)
    if found is None:
        raise NotFound
    one, fragment = found
    return render(
        request,
        "rating/edit.html",
        status_code=409 if notice else 200,
        one=one,
        fragment=trusted(fragment),
        notice=notice,
        **beside(0.0, fragment),
    )
