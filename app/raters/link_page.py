"""The page that shows a link's address, this once."""

from datetime import datetime

from fastapi import Request, Response

from app.models import Study
from app.rating.terms import Terms
from app.web.pages import address, render


def show_link(
    request: Request,
    study: Study,
    label: str,
    token: str,
    *,
    reusable: bool = False,
    expires_at: datetime | None = None,
) -> Response:
    link = f"{request.url.scheme}://{request.url.netloc}{address(request, f'/join/{token}')}"
    return render(
        request, "raters/invited.html", block="main",
        study=study, label=label, link=link, reusable=reusable, expires_at=expires_at, terms=Terms.of(study.terms),
    )  # fmt: skip
