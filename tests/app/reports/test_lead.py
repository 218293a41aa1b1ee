"""The lead says plainly where an interval holds zero."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.reports.lead import Lead
from app.reports.statistics.differences import Difference
from app.reports.statistics.estimate import Estimate, Test, untested
from tests.app.rated import rated_study
from tests.studies import sign_in

NEITHER = "The data do not tell the two apart."
WIDER = "For these raters the two differ; for raters like them the data do not tell the two apart."
NO_TEST: Test = untested("Not asked.", "none", 0, "neurons")
Bounds = tuple[float | None, float | None]


def lead(neurons: Bounds, raters: Bounds) -> Lead:
    narrow, wide = (Estimate(0.2, low, high, 0.95, "made up", 60, "neurons") for low, high in (neurons, raters))
    difference = Difference("solu_ln", "gelu", 1, narrow, wide, narrow, narrow, wide)
    return Lead("solu_ln", "gelu", 0.6, 0.4, 1, difference, NO_TEST)


@pytest.mark.parametrize(
    ("neurons", "raters", "said"),
    [
        ((0.1, 0.3), (0.05, 0.35), ""),
        ((-0.3, -0.1), (-0.35, -0.05), ""),
        ((0.1, 0.3), (-0.05, 0.45), WIDER),
        ((-0.1, 0.5), (-0.2, 0.6), NEITHER),
        ((0.0, 0.4), (0.1, 0.3), NEITHER),
        ((-0.1, 0.5), (None, None), NEITHER),
        ((0.1, 0.3), (None, None), ""),
        ((None, None), (None, None), ""),
    ],
)
def test_zero_inside_an_interval_is_said(neurons: Bounds, raters: Bounds, said: str) -> None:
    assert lead(neurons, raters).undecided == said


def test_the_page_and_the_file_say_so_after_the_numbers(client: TestClient, session: Session) -> None:
    rated = rated_study(session, ["INNCINNC", "INNIINNC"])
    sign_in(client, session)
    for address in ("report", "report.html"):
        html = client.get(f"/studies/{rated.study.code}/{address}").text
        paragraph = html.split('class="lead"')[1].split("</p>")[0]
        assert paragraph.endswith(f". {NEITHER}"), paragraph
