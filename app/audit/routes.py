from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response

from app.audit import queries, shown
from app.audit.as_csv import as_csv
from app.audit.queries import PAGE, Filter
from app.audit_log import record
from app.reports.exports import attachment
from app.roles import Role, require
from app.store.db import ReadSession, SeparateTransactions
from app.web.pages import render
from app.web.params import NoNul
from app.web.security import ReadingAdministrator

router = APIRouter(prefix="/audit")
Words = Annotated[str, Query(max_length=120), NoNul]
Page = Annotated[int, Query(ge=1, le=1_000_000)]


async def _asked(study: Words = "", person: Words = "", act: Words = "") -> Filter:
    return Filter(study=study, person=person, act=act)


Asked = Annotated[Filter, Depends(_asked)]


@router.get("")
def audit(
    request: Request, session: ReadSession, administrator: ReadingAdministrator, asked: Asked, page: Page = 1
) -> Response:
    require(administrator, Role.MANAGE)
    found = queries.lines(session, asked, page)
    return render(
        request, "audit/page.html", block="main",
        administrator=administrator, lines=found[:PAGE], more=len(found) > PAGE, number=page, asked=asked,
        narrowed=urlencode({name: value for name, value in vars(asked).items() if value}),
        persons=queries.persons(session), studies=queries.studies(session), shown=shown,
    )  # fmt: skip


@router.get(".csv")
def audit_csv(
    session: ReadSession, administrator: ReadingAdministrator, transactions: SeparateTransactions, asked: Asked
) -> Response:
    require(administrator, Role.MANAGE)
    content = as_csv(queries.all_lines(session, asked))
    with transactions() as writing:
        record(writing, administrator.name, "download taken", file="audit.csv")
    return Response(content, media_type="text/csv; charset=utf-8", headers=attachment("audit.csv"))
