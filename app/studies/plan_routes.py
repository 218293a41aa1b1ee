"""The plan of a study and its amendments over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from starlette.datastructures import FormData

from app.errors import AppError, Invalid
from app.models import Administrator
from app.raters.queries import rater_names
from app.store.db import OpenTransaction, SeparateReads, SeparateTransactions
from app.studies import plans, queries, words
from app.web.form import MOST_FIELDS
from app.web.pages import redirect, render
from app.web.params import Code
from app.web.security import ReadingAdministrator
from app.words.said import N_

router = APIRouter()
MOST_LETTERS = 10_000


async def _typed(request: Request) -> dict[str, str]:
    """What was typed, by the names of the plan's fields; several ticks of one name have commas between them."""
    form: FormData = await request.form(max_fields=MOST_FIELDS)
    found = {}
    for name in form:
        text = ",".join(value for value in form.getlist(name) if isinstance(value, str))
        if "\x00" in text or len(text) > MOST_LETTERS:
            raise Invalid(N_("“%(name)s” is too long, or holds a character that cannot be stored."), name=name)
        found[name] = text
    return found


Typed = Annotated[dict[str, str], Depends(_typed)]


@router.get("/studies/{code}/plan")
def plan_page(request: Request, administrator: ReadingAdministrator, reads: SeparateReads, code: Code) -> Response:
    return _page(request, administrator, reads, code)


@router.post("/studies/{code}/plan")
def amend(
    request: Request,
    administrator: ReadingAdministrator,
    transactions: SeparateTransactions,
    reads: SeparateReads,
    code: Code,
    typed: Typed,
) -> Response:
    changes = {name: text for name, text in typed.items() if name in plans.AMENDABLE}
    if "raters_asked" in typed:  # no box is ticked: nobody is left out by name
        changes.setdefault("excluded_raters", "")
    try:
        with transactions() as session:
            plans.amend_plan(session, code, administrator, changes, typed.get("reason", ""))
    except AppError as refusal:
        return _page(request, administrator, reads, code, refusal, typed)
    return redirect(request, f"/studies/{code}/plan")


def _page(
    request: Request,
    administrator: Administrator,
    reads: OpenTransaction,
    code: str,
    refusal: AppError | None = None,
    typed: dict[str, str] | None = None,
) -> Response:
    with reads() as session:
        study = queries.find_study(session, code)
        made = plans.amendments(session, study)
        raters = rater_names(session, study)
    before = [study.plan, *(one.plan for one in made)]
    steps = [(one, plans.changed(earlier, one.plan)) for earlier, one in zip(before, made, strict=False)]
    return render(
        request, "studies/plan.html", block="main", status_code=refusal.status_code if refusal else 200,
        administrator=administrator, study=study, plan=plans.plan_now(study, []), now=plans.plan_now(study, made),
        steps=steps, raters=raters, names={row.code: row.name for row in raters}, typed=typed or {}, words=words,
        conditions=sorted({arm.condition for arm in study.arms}), refusal=refusal.said if refusal else None,
    )  # fmt: skip
