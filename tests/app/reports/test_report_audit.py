"""The audit of form: does the length or the speed of a page give its arm away?"""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.models import ItemContent, OpenedItem
from app.reports.form_features import form_of
from tests.app.rated import Rated, rated_study
from tests.app.reports.test_report_numbers import text_of
from tests.studies import sign_in


def test_the_form_of_a_page_is_its_lengths_and_counts() -> None:
    fragment = b'<ol><li><p>a <i class=a3>bc</i> <mark class=a15 tabindex=0>d</mark><u></u><u class="t a9"></u></ol>   '
    assert form_of(fragment) == {
        "length.bytes": len(fragment) - 3, "length.text": 6, "shading.pieces": 3, "shading.strong": 2,
        "shading.kinds": 3, "signs.breaks": 2,
    }  # fmt: skip


def test_the_audit_finds_an_arm_that_is_served_slowly(client: TestClient, session: Session, rated: Rated) -> None:
    sign_in(client, session)
    many = rated_study(session, ["IN" * 12, "II" * 12], name="slow")
    for item in many.items:
        opened = session.get_one(OpenedItem, item.id)
        opened.serving_seconds = 0.001 * (1 + opened.arm_id) + 1e-6 * item.id
    session.flush()
    found = client.get(f"/studies/{many.study.code}/report.json").json()["analysis"]["form"]
    assert {row["group"]: row["auc"]["value"] for row in found}["timing"] == pytest.approx(1)


def test_the_audit_of_form_needs_enough_neurons_and_then_finds_what_gives_an_arm_away(
    client: TestClient, session: Session, rated: Rated
) -> None:
    sign_in(client, session)
    few = text_of(client.get(f"/studies/{rated.study.code}/report").text)
    assert "At least 20 neurons in each condition are needed" in few
    many = rated_study(session, ["IN" * 12, "II" * 12], name="many")
    for item in many.items[24:]:
        content = session.get_one(ItemContent, item.id)
        content.fragment = content.fragment.replace(b"text", b"text that is longer")
    session.flush()
    found = client.get(f"/studies/{many.study.code}/report.json").json()["analysis"]["form"]
    by_group = {row["group"]: row["auc"]["value"] for row in found}
    assert by_group["length"] == pytest.approx(1)
    assert by_group["signs"] == pytest.approx(0.5)
