"""More raters than anybody reads at once: pages stay small, tables are folded or in pages, and figures can be read."""

import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.models import StudyState
from app.raters.paging import PAGE
from app.reports.names import MOST_LISTED
from app.studies.design import Design
from tests.app.rated import Rated, rated_study
from tests.studies import sign_in

RATERS = 60
NAMES = re.compile(r'<th scope="row">(Person \d+)</th>')


@pytest.fixture
def crowd(client: TestClient, session: Session) -> Rated:
    """Sixty raters who all judged the same four neurons."""
    sign_in(client, session)
    yes, mixed = "I" * RATERS, "INC" * (RATERS // 3)
    design = Design(neurons_per_arm=2, seats=RATERS).as_dict()
    return rated_study(session, [(yes, mixed), (mixed, "N" * RATERS)], raters=RATERS, design=design)


def test_the_raters_of_a_study_are_in_pages(client: TestClient, crowd: Rated) -> None:
    path = f"/studies/{crowd.study.code}"
    first, second = (client.get(f"{path}?page={number}").text for number in (1, 2))
    assert len(NAMES.findall(first)) >= PAGE
    names = [set(NAMES.findall(page.partition('id="sessions"')[0])) for page in (first, second)]
    assert [len(found) for found in names] == [PAGE, RATERS - PAGE]
    assert names[0].isdisjoint(names[1])
    assert f'href="{path}?page=2#raters"' in client.get(path).text
    assert f'href="{path}?page=1#raters"' in second
    assert client.get(f"{path}?page=3").status_code == 404
    assert client.get(f"{path}?page=0").status_code == 422


def test_a_few_raters_are_on_one_page(client: TestClient, session: Session) -> None:
    sign_in(client, session)
    page = client.get(f"/studies/{rated_study(session, design=Design().as_dict()).study.code}").text
    assert "?page=" not in page


def test_the_report_folds_its_table_and_draws_no_cloud_of_points(client: TestClient, crowd: Rated) -> None:
    page = client.get(f"/studies/{crowd.study.code}/report").text
    tables = [part.partition("</table>")[0] for part in page.split("<table>")[1:]]
    shown, folded = (table for table in tables if ">Rater A" in table)
    assert (shown.count('<th scope="row">'), folded.count('<th scope="row">')) == (MOST_LISTED, RATERS - MOST_LISTED)
    assert page.index("<details><summary>The other raters") < page.index(folded)
    assert f"the {MOST_LISTED} strictest of {RATERS}" in page
    assert "Small dots" not in page
    assert "least often" not in page, "a third of them were equally strict"
    fraction = page[page.index('data-name="fraction"') :].partition("</figure>")[0]
    assert len(fraction) < 40_000


def test_of_many_verdicts_on_an_item_the_first_are_shown_and_all_are_counted(client: TestClient, crowd: Rated) -> None:
    for path in ("report/items", "report.html"):
        page = client.get(f"/studies/{crowd.study.code}/{path}").text
        assert "interpretable: 20; not interpretable: 20; cannot decide: 20." in page
        assert page.count('<span class="verdict">') == 4 * MOST_LISTED


def test_the_raters_whom_a_plan_may_leave_out_are_folded(client: TestClient, session: Session) -> None:
    sign_in(client, session)
    design = Design(neurons_per_arm=2, seats=RATERS).as_dict()
    verdicts = [("I" * RATERS,), ("N" * RATERS,)]
    study = rated_study(session, verdicts, raters=RATERS, design=design, state=StudyState.CLOSED).study
    page = client.get(f"/studies/{study.code}/plan").text
    folded = page[page.index(f"<details><summary>Raters ({RATERS})") :].partition("</details>")[0]
    assert folded.count('name="excluded_raters"') == RATERS
