"""Pilots, snippets across the spectrum, replicate models, and what a design comes to in counts."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Event, Study
from app.settings import Settings
from app.studies.asked import PAPER
from app.studies.design import Design
from app.studies.planned import pairs_of, planned
from tests.app.studies.new.form import FORM
from tests.runs import make_run
from tests.studies import LABELS, sign_in


def test_a_pilot_is_called_one_everywhere(client: TestClient, session: Session) -> None:
    sign_in(client, session)
    client.post("/studies/new", data=FORM | {"pilot": "true"})
    study = session.scalars(select(Study)).one()
    assert study.pilot
    for path in ("/studies", f"/studies/{study.code}", f"/studies/{study.code}/exports"):
        assert "PILOT" in client.get(path).text, path
    created = session.scalars(select(Event).where(Event.study_id == study.id)).one()
    assert created.detail["pilot"] is True


def test_the_plan_of_a_spectrum_is_about_the_spectrum(client: TestClient, session: Session, settings: Settings) -> None:
    for name in ("gelu", "solu"):
        make_run(settings.runs_dir / f"{name}-bands", name, name=f"{name}-bands", bands=True)
    sign_in(client, session)
    asked = FORM | {"run": ["gelu-bands", "solu-bands"], "snippet_choice": "spectrum", "snippets": 12}
    client.post("/studies/new", data=asked)
    study = session.scalars(select(Study)).one()
    assert (study.plan["estimand"], study.design["snippet_choice"]) == ("spectrum", "spectrum")
    assert "12 · across the spectrum" in client.get(f"/studies/{study.code}").text


def test_replicate_models_are_arms_of_their_own(client: TestClient, session: Session, settings: Settings) -> None:
    make_run(settings.runs_dir / "again", "gelu", hidden=32, name="sugarplum", seed=8, size=LABELS[0]["size"])
    sign_in(client, session)
    client.post("/studies/new", data=FORM | {"run": ["gelu", "again", "solu_ln"]})
    study = session.scalars(select(Study)).one()
    page = client.get(f"/studies/{study.code}").text
    assert "marzipan, quillfeather, sugarplum" in page


@pytest.mark.parametrize(
    ("arms", "pairs"),
    [
        ([("gelu", 1), ("solu_ln", 1)], 1),
        ([("gelu", 1), ("solu_ln", 2)], 0),
        ([("gelu", 1), ("gelu", 1), ("solu_ln", 1), ("solu_ln", 1)], 2),
        ([("gelu", 1), ("solu_ln", 1), ("gelu", 2), ("solu_ln", 2), ("gelu_ln", 2)], 2),
        ([("a", 1), ("b", 1)], 1),
        ([], 0),
    ],
)
def test_pairs_of_arms(arms: list[tuple[str, int]], pairs: int) -> None:
    assert pairs_of(arms) == pairs


def test_the_counts_of_the_papers_protocol() -> None:
    sizes = [(condition, size) for size in range(5) for condition in ("gelu", "solu_ln")]
    found = planned(PAPER.design, [*sizes, ("gelu_ln", 1)])
    assert (found.neurons, found.verdicts, found.a_seat, found.pairs) == (660, 660, 220, 5)
    assert found.detectable is not None
    assert 0.08 < found.detectable < 0.13  # 300 neurons a condition


def test_repeats_and_practice_take_time_too() -> None:
    design = Design(neurons_per_arm=10, seats=4, overlap=3, repeats_per_arm=4, practice_items=5)
    found = planned(design, [("gelu", 1), ("solu", 1)])
    ordinary, shared, again = 2 * 7, 2 * 3 * 4, 2 * (3 * 4 + 1)
    assert found.verdicts == ordinary + shared + again == 64
    assert (found.a_seat, found.minutes_a_seat, found.minutes) == (16, 21, 64 + 4 * 5)
