"""The form of a new study and its file: each fills the other."""

from shutil import copytree

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Study
from app.reports.statistics.plan import Plan
from app.settings import Settings
from app.studies.asked import PAPER, Asked
from app.studies.design import Design
from app.studies.seal import digest
from app.studies.study_file import LARGEST_FILE, read, write
from tests.app.studies.new.form import FORM, drafts, fields
from tests.studies import PHASES, make_administrator, make_study, phased_runs, sign_in

PAGES = ("/studies/new", "/studies/drafts")


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


def test_who_may_not_manage_makes_nothing(client: TestClient, session: Session) -> None:
    sign_in(client, session, make_administrator(session, "Bob", may_manage=False))
    for path in ("/studies/new", "/studies/new/preview", "/studies/new/study.toml"):
        assert client.post(path, data=FORM).status_code == 403
    assert client.post("/studies/new/file", files={"file": ("study.toml", b"")}).status_code == 403
    assert drafts(session) == []


@pytest.mark.parametrize("path", PAGES)
def test_nobody_else_sees_these_pages(htmx: TestClient, path: str) -> None:
    assert htmx.get(path).status_code == 401
