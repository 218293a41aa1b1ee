"""The pages of a study that is not there yet: its form, its file, a preview, drafts."""

import re
from datetime import timedelta
from shutil import copytree

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.clock import now
from app.models import Draft, DraftState, Event, Study
from app.reports.statistics.plan import Plan
from app.settings import Settings
from app.studies.asked import PAPER, Asked
from app.studies.design import Design
from app.studies.earlier import SILENT
from app.studies.planned import pairs_of, planned
from app.studies.seal import digest
from app.studies.study_file import LARGEST_FILE, read, write
from tests.runs import make_run
from tests.studies import LABELS, PHASES, make_administrator, make_study, phased_runs, sign_in, two_runs

FORM = {"name": "Spring", "run": ["gelu", "solu_ln"], "neurons_per_arm": 4, "seats": 2, "overlap": 1}
PAGES = ("/studies/new", "/studies/drafts")


@pytest.fixture(autouse=True)
def _with_runs(settings: Settings) -> None:
    for run in two_runs():
        copytree(run, settings.runs_dir / run.name)


def drafts(session: Session) -> list[Draft]:
    return list(session.scalars(select(Draft).order_by(Draft.id)))


# ---- the form and the file ----------------------------------------------------------------------


def test_the_form_saves_a_file_that_fills_it_again(client: TestClient, session: Session) -> None:
    sign_in(client, session)
    typed = FORM | {"pilot": "true", "practice_items": 3, "instructions": "Read it.\r\nAll of it.", "snippets": 12}
    saved = client.post("/studies/new/study.toml", data=typed)
    assert saved.headers["content-disposition"] == 'attachment; filename="study.toml"'
    assert read(saved.text) == Asked(
        name="Spring",
        pilot=True,
        runs=("gelu", "solu_ln"),
        design=Design(
            neurons_per_arm=4, seats=2, overlap=1, practice_items=3, snippets=12, instructions="Read it.\nAll of it."
        ),
    )
    page = client.post("/studies/new/file", files={"file": ("study.toml", saved.content)})
    assert client.post("/studies/new/study.toml", data=fields(page.text)).text == saved.text


def fields(page: str) -> dict[str, object]:
    """What a browser would send of the form as it stands."""
    form = page[page.index('id="new"') :].partition("</form>")[0]
    sent: dict[str, object] = dict(re.findall(r'<input type="(?:number|text)" name="(\w+)" value="([^"]*)"', form))
    checked = re.findall(r'<input type="(?:checkbox|radio)" name="(\w+)" value="([\w-]+)" checked', form)
    sent |= {name: value for name, value in checked if name != "run"}
    sent |= dict(re.findall(r'<textarea name="(\w+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL))
    chosen = re.findall(r'<select name="(\w+)">.*?<option value="([^"]*)" selected', form, re.DOTALL)
    return sent | dict(chosen) | {"run": [value for name, value in checked if name == "run"]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[design]\nneurons = 3", "Did you mean neurons_per_arm?"),
        (b"\xff\xfe", "study.toml is not a text in UTF-8"),
        (b"#" * (LARGEST_FILE + 1), "longer than 100000 bytes"),
        (b"name = ", "is not a TOML file"),
    ],
)
def test_a_file_that_is_none_is_said(client: TestClient, session: Session, content: bytes, said: str) -> None:
    sign_in(client, session)
    answer = client.post("/studies/new/file", files={"file": ("study.toml", content)})
    assert answer.status_code == 422
    assert said in answer.text


def test_runs_of_a_file_that_are_not_here_are_named(client: TestClient, session: Session) -> None:
    sign_in(client, session)
    page = client.post("/studies/new/file", files={"file": ("study.toml", write(PAPER).encode())})
    assert "gelu_ln-16l" in page.text
    assert fields(page.text)["run"] == []


@pytest.mark.parametrize("name", ["first", "paper", "thorough"])
def test_templates_fill_the_form(htmx: TestClient, session: Session, name: str) -> None:
    sign_in(htmx, session)
    page = htmx.get(f"/studies/new?template={name}")
    assert page.status_code == 200
    assert f'name="neurons_per_arm" value="{120 if name == "thorough" else 60}"' in page.text


def test_a_study_is_cloned_with_all_that_it_asked_for(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings, rank_shaded_per_arm=2, instructions="Twice.")
    sign_in(client, session)
    page = client.get(f"/studies/new?study={study.code}")
    sent = fields(page.text)
    assert (sent["name"], sent["run"], sent["instructions"]) == ("", ["gelu", "solu_ln"], "Twice.")
    answer = client.post("/studies/new", data=sent | {"name": "Another"})
    clone = session.scalars(select(Study).where(Study.name == "Another")).one()
    assert client.get(answer.headers["location"]).headers["location"] == f"/studies/{clone.code}"
    assert clone.design == study.design
    assert clone.seal_root != study.seal_root, "another secret, another draw"
    assert read(client.get(f"/studies/{study.code}/study.toml").text).design == Design.of(study.design)
    assert client.get("/studies/new?study=nowhere").status_code == 404


PLANNED = {
    "question": "Is it more than half?\r\nWe expect so.", "baseline": "solu_ln", "cannot_decide": "left_out",
    "late_counts": "no", "fewest_verdicts": 2, "most_false_positives": "0.5", "least_seconds": "2.5", "alpha": "0.01",
}  # fmt: skip


def test_the_form_fixes_the_plan_and_its_digest_follows(client: TestClient, session: Session) -> None:
    sign_in(client, session)
    client.post("/studies/new", data=FORM)
    client.post("/studies/new", data=FORM | {"name": "Planned"} | PLANNED)
    usual, planned = session.scalars(select(Study).order_by(Study.id))
    assert usual.plan == Plan(baseline="gelu").as_dict()
    expected = Plan(
        baseline="solu_ln", question="Is it more than half?\nWe expect so.", cannot_decide="left_out",
        late_counts=False, fewest_verdicts=2, most_false_positives=0.5, least_seconds=2.5, alpha=0.01,
    )  # fmt: skip
    assert planned.plan == expected.as_dict()
    assert planned.plan_digest == digest(planned.plan) == planned.sealed_parts["plan"] != usual.plan_digest
    clone = fields(client.get(f"/studies/new?study={planned.code}").text)
    client.post("/studies/new", data=clone | {"name": "Again"})
    assert session.scalars(select(Study).where(Study.name == "Again")).one().plan == planned.plan
    assert read(client.get(f"/studies/{planned.code}/study.toml").text).plan == expected
    assert "We expect so." in client.get(f"/studies/{planned.code}/plan").text


@pytest.mark.parametrize(
    ("typed", "status", "said"),
    [
        ({"baseline": "legible"}, 422, "The plan compares with “legible”, and the runs are of gelu, solu_ln."),
        ({"alpha": "1.5"}, 422, "The level alpha must lie between 0 and 1; it is 1.5."),
        ({"most_false_positives": "-1"}, 422, "most_false_positives"),
        ({"alpha": "nan"}, 422, "alpha"),
        ({"cannot_decide": "maybe"}, 422, "cannot_decide"),
        ({"question": "x" * 2001}, 422, "question"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(
    client: TestClient, session: Session, typed: dict[str, str], status: int, said: str
) -> None:
    sign_in(client, session)
    answer = client.post("/studies/new", data=FORM | typed)
    assert answer.status_code == status
    assert said in answer.text
    assert session.scalars(select(Study)).first() is None


def test_a_clone_knows_the_runs_of_practice_and_check(
    client: TestClient, session: Session, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of so few neurons some draws leave practice none that fires on one token, and are refused.
    monkeypatch.setattr("app.studies.drafts.new_secret", lambda: bytes(32))
    for run in phased_runs()[2:]:
        copytree(run, settings.runs_dir / run.name)
    every = ["gelu", "gelu-check", "gelu-practice", "solu_ln", "solu_ln-check", "solu_ln-practice"]
    sign_in(client, session)
    client.post("/studies/new", data=FORM | PHASES | {"run": every})
    first = session.scalars(select(Study)).one()
    sent = fields(client.get(f"/studies/new?study={first.code}").text)
    assert sorted(sent["run"]) == every  # type: ignore[call-overload]
    client.post("/studies/new", data=sent | {"name": "Again"})
    assert session.scalars(select(Study).where(Study.name == "Again")).one().design == first.design
    file = read(client.get(f"/studies/{first.code}/study.toml").text)
    assert file.runs == tuple(str(settings.runs_dir / run) for run in every)
    filled = client.post("/studies/new/file", files={"file": ("study.toml", write(file))})
    assert sorted(fields(filled.text)["run"]) == every  # type: ignore[call-overload]


# ---- the preview --------------------------------------------------------------------------------


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


# ---- drafts -------------------------------------------------------------------------------------


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


def test_who_may_not_manage_makes_nothing(client: TestClient, session: Session) -> None:
    sign_in(client, session, make_administrator(session, "Bob", may_manage=False))
    for path in ("/studies/new", "/studies/new/preview", "/studies/new/study.toml"):
        assert client.post(path, data=FORM).status_code == 403
    assert client.post("/studies/new/file", files={"file": ("study.toml", b"")}).status_code == 403
    assert drafts(session) == []


@pytest.mark.parametrize("path", PAGES)
def test_nobody_else_sees_these_pages(htmx: TestClient, path: str) -> None:
    assert htmx.get(path).status_code == 401


# ---- pilots, snippets across the spectrum ---------------------------------------------------------


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
    assert "12, across the spectrum" in client.get(f"/studies/{study.code}").text


# ---- replicates and counts ----------------------------------------------------------------------


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
