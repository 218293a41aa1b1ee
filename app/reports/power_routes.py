"""The power page: planning a study before there is one. Says nothing about any study that there is."""

from collections.abc import Iterator
from threading import Lock
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from markupsafe import Markup
from pydantic import BaseModel, Field

from app.errors import Invalid
from app.reports import names, planning
from app.reports.planning import Question
from app.reports.speech import in_language
from app.web.pages import render, streamed
from app.web.security import ReadingAdministrator
from app.words.language import Language, language_of

router = APIRouter()
TURN = Lock()
"""One point is simulated at a time, so that raters' pages stay quick whoever plans meanwhile."""


class Asked(BaseModel):
    """The fields of the page, in percent and whole numbers. What is left out is as usual."""

    baseline: Annotated[float, Field(ge=1, le=99)] = 35
    other: Annotated[float, Field(ge=1, le=99)] = 60
    neurons: Annotated[int, Field(ge=2, le=2000)] = 60
    raters: Annotated[int, Field(ge=1, le=50)] = 3
    verdicts: Annotated[int, Field(ge=1, le=50)] = 1
    sizes: Annotated[int, Field(ge=1, le=12)] = 1
    neuron_sd: Annotated[float, Field(ge=0, le=5)] = 1.5
    rater_sd: Annotated[float, Field(ge=0, le=5)] = 0.6
    rater_arm_sd: Annotated[float, Field(ge=0, le=5)] = 0.0
    seed: Annotated[int, Field(ge=0, le=2**31)] = 1
    simulate: bool = False

    def question(self) -> Question:
        fractions = {"baseline": self.baseline / 100, "other": self.other / 100}
        return Question(**self.model_dump(exclude={"simulate", *fractions}) | fractions)


@router.get("/power")
def power(request: Request, administrator: ReadingAdministrator, asked: Annotated[Asked, Query()]) -> Response:
    """By formula at once; simulated on request, a row at a time as it comes."""
    try:
        question = asked.question()
    except Invalid as refusal:
        return render(
            request, "reports/power.html", block="main", status_code=refusal.status_code,
            administrator=administrator, asked=asked, refusal=refusal.said, question=None,
        )  # fmt: skip
    known: dict[str, Any] = {
        "administrator": administrator, "asked": asked, "refusal": None, "question": question, "names": names,
        "detectable": planning.detectable(question), "needed": planning.needed(question),
        "points": planning.points(question), "studies_of": planning.studies_of, "goals": planning.GOALS,
    }  # fmt: skip
    if not asked.simulate:
        return render(request, "reports/power.html", block="main", **known)
    found: list[Any] = []
    return streamed(
        request,
        "reports/power.html",
        rows=_in_turn(question, found),
        drawn=lambda: _drawn(found, language_of(request)),
        **known,
    )


def _in_turn(question: Question, found: list[Any]) -> Iterator[Any]:
    """The points as they are computed, each in its turn, kept for the figure."""
    rows = planning.simulated(question)
    while True:
        with TURN:
            row = next(rows, None)
        if row is None:
            return
        found.append(row)
        yield row


def _drawn(found: list[Any], speaking: Language) -> Markup:
    from app.reports.figures import inline, power_figure

    # SVG that vl-convert drew from our own numbers, every label in it escaped
    with in_language(speaking):
        return Markup(inline(power_figure(found)))  # noqa: S704
