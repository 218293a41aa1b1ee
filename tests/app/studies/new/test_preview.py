"""A preview shows items and what the design comes to, and gives nothing away."""

import re

from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Study
from tests.app.studies.new.form import FORM, drafts
from tests.studies import LABELS, sign_in


def test_a_preview_shows_items_and_what_the_design_comes_to(htmx: TestClient, session: Session) -> None:
    sign_in(htmx, session)
    page = htmx.post("/studies/new/preview", data=FORM)
    assert page.status_code == 200
    assert page.text.count('<div class="snips"') == 3
    assert page.text.count("<mark") == 3 * 20
    assert "<dt>Verdicts</dt><dd>10</dd>" in page.text
    assert session.scalars(select(Study)).all() == []
    assert 'name="name" value="Spring"' in page.text, "what was typed is still there"


def test_a_preview_says_nothing_of_what_its_items_are(client: TestClient, session: Session) -> None:
    """Items of both arms come, in random order, all of one length, and nothing beside them differs."""
    sign_in(client, session)
    around = set()
    for _ in range(8):
        page = client.post("/studies/new/preview", data=FORM | {"directions_per_arm": 0, "mixed_per_arm": 0}).text
        shown = page[page.index('id="preview"') :]
        fragments = re.findall(r'<div class="snips"[^>]*>(.*?)</div></details>', shown, re.DOTALL)
        assert len({len(one.encode()) for one in fragments}) == 1
        around.add(re.sub(r'(<div class="snips"[^>]*>).*?</div></details>', r"\1", shown, flags=re.DOTALL))
        for secret in (*(label["name"] for label in LABELS), "layer", "data-"):
            assert secret not in "".join(fragments)
    assert len(around) == 1


def test_no_preview_is_a_studys_own_draw(client: TestClient, session: Session) -> None:
    sign_in(client, session)
    seen = {client.post("/studies/new/preview", data=FORM).text for _ in range(4)}
    assert len(seen) == 4, "each with a secret of its own"


def test_what_cannot_be_previewed_is_said(htmx: TestClient, session: Session) -> None:
    sign_in(htmx, session)
    answer = htmx.post("/studies/new/preview", data=FORM | {"run": ["gelu"]})
    assert answer.status_code == 422
    assert "compares two runs or more" in answer.text
    assert drafts(session) == []
