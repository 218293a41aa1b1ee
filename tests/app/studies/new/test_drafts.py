"""A draft: the draw under way, done or failed, and every draw written down."""

from datetime import timedelta

from fastapi.testclient import TestClient
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.clock import now
from app.models import Draft, DraftState, Event, Study
from app.settings import Settings
from app.studies.asked import Asked
from app.studies.earlier import SILENT
from app.studies.study_file import write
from tests.app.studies.new.form import FORM, drafts, fields
from tests.studies import make_study, sign_in


def test_every_draw_is_written_down(client: TestClient, session: Session, settings: Settings) -> None:
    sign_in(client, session)
    client.post("/studies/new/preview", data=FORM)
    client.post("/studies/new", data=FORM)
    study = session.scalars(select(Study)).one()
    previewed, sealed = drafts(session)
    assert (previewed.state, previewed.study_id) == (DraftState.PREVIEWED, None)
    assert (sealed.state, sealed.study_id, sealed.done) == (DraftState.SEALED, study.id, sealed.total)
    assert previewed.runs == sealed.runs
    assert len(sealed.runs) == 2
    listed = client.get("/studies/drafts").text
    assert listed.count('<tr><th scope="row">') == 2
    assert f'href="/studies/{study.code}">sealed' in listed
    created = session.scalars(select(Event).where(Event.study_id == study.id)).one()
    assert created.detail["drafts"] == {"previewed": 1}
    other = make_study(session, settings, name="By the command")
    again = session.scalars(select(Event).where(Event.study_id == other.id)).one()
    assert again.detail["drafts"] == {"previewed": 1, "sealed": 1}


def test_a_draw_that_fails_says_why_and_leads_back(client: TestClient, session: Session, settings: Settings) -> None:
    """A byte of a run was changed: only the drawing itself finds it, when the form is long gone."""
    values = settings.runs_dir / "gelu" / "top.activations.npy"
    changed = bytearray(values.read_bytes())
    changed[-1] ^= 1
    values.write_bytes(changed)
    sign_in(client, session)
    page = client.get(client.post("/studies/new", data=FORM).headers["location"])
    assert page.status_code == 200
    assert "was changed after the run was collected" in page.text
    (draft,) = drafts(session)
    assert draft.state is DraftState.REFUSED
    assert fields(client.get(f"/studies/new?draft={draft.code}").text)["name"] == "Spring"
    assert session.scalars(select(Study)).all() == []


def test_a_draw_under_way_shows_how_far_it_is(htmx: TestClient, session: Session) -> None:
    sign_in(htmx, session)
    draft = Draft(
        actor="Ada", state=DraftState.DRAWING, asked=write(Asked(name="Spring")), design_digest="d" * 64, runs=[]
    )
    session.add(draft)
    session.flush()
    page = htmx.get(f"/studies/drafts/{draft.code}")
    assert "Reading the runs" in page.text
    assert 'hx-trigger="every 1s"' in page.text
    session.execute(update(Draft).values(done=12, total=132))
    assert "12 of 132 items rendered" in htmx.get(f"/studies/drafts/{draft.code}").text
    session.execute(update(Draft).values(seen_at=now() - SILENT - timedelta(seconds=1)))
    stopped = htmx.get(f"/studies/drafts/{draft.code}").text
    assert "Nobody draws this study any more" in stopped
    assert "hx-trigger" not in stopped
    assert htmx.get("/studies/drafts/nowhere").status_code == 404
