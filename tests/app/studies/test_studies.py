from datetime import date
from pathlib import Path
from shutil import copytree

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.commands.terminal import find_study
from app.errors import Conflict, Invalid
from app.models import Event, Item, ItemContent, ItemKey, Placement, Seat, Study, StudyState
from app.settings import Settings
from app.studies.design import Design
from app.studies.freezing import freeze
from app.studies.queries import finished_on
from app.words.language import language
from tests.runs import make_run
from tests.studies import SECRET, SMALL, make_administrator, make_study, sign_in, two_runs

FORM = {"neurons_per_arm": 4, "snippets": 20, "seats": 2, "verdicts_per_neuron": 1, "overlap": 1}


@pytest.fixture
def with_runs(settings: Settings) -> list[str]:
    for run in two_runs():
        copytree(run, settings.runs_dir / run.name)
    return [run.name for run in two_runs()]


# ---- writing a study down -----------------------------------------------------------------------


def test_a_study_is_created_from_two_runs(session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    assert session.scalars(select(func.count()).select_from(Item).where(Item.study_id == study.id)).one() == 12
    seats = session.scalars(select(Seat).where(Seat.study_id == study.id).order_by(Seat.number)).all()
    assert [seat.number for seat in seats] == [1, 2, 3]
    assert sum(seat.share for seat in seats) == 12
    placed = select(func.count()).select_from(Placement).join(Seat).where(Seat.study_id == study.id)
    assert session.scalars(placed).one() == 36


def test_every_form_of_an_item_has_one_length(session: Session, settings: Settings) -> None:
    make_study(session, settings)
    for of in (ItemContent.fragment, ItemContent.wide_fragment, ItemKey.sealed):
        assert session.scalars(select(func.count(func.distinct(func.length(of))))).one() == 1


def test_the_rows_of_items_stand_in_the_order_of_their_codes(session: Session, settings: Settings) -> None:
    study = make_study(session, settings, neurons_per_arm=20)
    codes = session.scalars(select(Item.code).where(Item.study_id == study.id).order_by(Item.id)).all()
    assert list(codes) == sorted(codes)


def test_a_repeat_knows_what_it_repeats_and_carries_its_tag(session: Session, settings: Settings) -> None:
    study = make_study(session, settings, neurons_per_arm=20, seats=1, repeats_per_arm=2, repeat_distance=5)
    first = session.scalars(select(Item).where(Item.repeat_of.is_not(None)).where(Item.study_id == study.id)).all()
    assert len(first) == 4
    for repeat in first:
        both = select(func.count(func.distinct(Placement.unit_tag)))
        assert session.scalars(both.where(Placement.item_id.in_([repeat.id, repeat.repeat_of]))).one() == 1


def test_names_are_taken_once(session: Session, settings: Settings) -> None:
    make_study(session, settings)
    with pytest.raises(Conflict, match="“Winter study”"):
        make_study(session, settings)
    with pytest.raises(Invalid, match="needs a name"):
        make_study(session, settings, name="  ")


def test_creation_is_in_the_log(session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    event = session.scalars(select(Event).where(Event.study_id == study.id)).one()
    assert (event.actor, event.what) == ("Ada", "study created")
    assert event.detail["seal"] == study.seal_root


# ---- which runs make a study --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tokenizer_digest": "71" * 32}, "different tokenizers"),
        ({"parts": ["code"]}, "different parts of the corpus"),
        ({"split": "train"}, "different splits"),
        ({"name": "quillfeather"}, "Two of them have the name quillfeather"),
        ({"kept": 12}, "different numbers of snippets kept"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    other = make_run(tmp_path / "other", "solu", **changes).folder  # type: ignore[arg-type]
    with pytest.raises(Invalid, match=says):
        freeze(Design(**SMALL), [two_runs()[0], other], SECRET)


def test_a_study_needs_the_collect_split_two_runs_and_enough_neurons(tmp_path: Path) -> None:
    held_out = [make_run(tmp_path / name, name, split="heldout").folder for name in ("gelu", "solu")]
    with pytest.raises(Invalid, match="split heldout, and a study needs collect"):
        freeze(Design(**SMALL), held_out, SECRET)
    with pytest.raises(Invalid, match="two runs or more; 1 was given"):
        freeze(Design(**SMALL), two_runs()[:1], SECRET)
    with pytest.raises(Invalid, match="Ask for fewer neurons"):
        freeze(Design(neurons_per_arm=500), two_runs(), SECRET)
    with pytest.raises(Invalid, match=r"There is no folder"):
        freeze(Design(**SMALL), [tmp_path / "nowhere", two_runs()[0]], SECRET)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"neurons_per_arm": 0}, "Neurons an arm must be at least 1"),
        ({"verdicts_per_neuron": 4}, r"Raters a neuron \(4\) cannot be more than “Raters” \(3\)"),
        ({"overlap": 61}, "Overlap neurons an arm"),
        ({"tokens": 200}, "Tokens a snippet"),
    ],
)
def test_a_design_that_cannot_be_is_refused(values: dict[str, int], says: str) -> None:
    with pytest.raises(Invalid, match=says):
        Design(**values)


# ---- pages --------------------------------------------------------------------------------------


def test_the_front_page_leads_who_is_not_let_in(htmx: TestClient) -> None:
    answer = htmx.get("/")
    assert answer.status_code == 200
    assert "open the link you were given" in answer.text


def test_an_empty_list_says_how_to_begin(htmx: TestClient, session: Session) -> None:
    sign_in(htmx, session)
    page = htmx.get("/studies").text
    assert "No studies yet" in page
    assert "There is no finished run in" in page


def test_an_empty_list_counts_what_is_there_to_draw_from(
    client: TestClient, session: Session, with_runs: list[str]
) -> None:
    sign_in(client, session)
    assert f"{len(with_runs)} finished runs are in" in client.get("/studies").text


def test_a_study_is_made_by_the_form(client: TestClient, session: Session, with_runs: list[str]) -> None:
    sign_in(client, session)
    page = client.get("/studies/new")
    assert all(name in page.text for name in with_runs)
    assert "611 328 parameters" in page.text
    answer = client.post("/studies/new", data={"name": "Spring", "run": with_runs, **FORM})
    assert answer.status_code == 303
    study = session.scalars(select(Study)).one()
    assert client.get(answer.headers["location"]).headers["location"] == f"/studies/{study.code}"
    assert study.design["neurons_per_arm"] == 4
    assert "Spring" in client.get("/studies").text


@pytest.mark.parametrize(
    ("data", "status", "says"),
    [
        ({"name": "Spring", "run": ["gelu"]}, 422, "compares two runs or more"),
        ({"name": "Spring", "run": ["../secret", "gelu"]}, 422, "no finished run “../secret”"),
        ({"name": " ", "run": ["gelu", "solu_ln"]}, 422, "needs a name"),
        ({"name": "Spring", "run": ["gelu", "solu_ln"], "neurons_per_arm": "400"}, 422, "Ask for fewer neurons"),
        ({"name": "Spring", "run": ["gelu", "solu_ln"], "neurons_per_arm": "many"}, 422, "neurons_per_arm"),
    ],
)
def test_a_form_that_cannot_be_is_refused_in_a_sentence(
    htmx: TestClient, session: Session, with_runs: list[str], data: dict[str, object], status: int, says: str
) -> None:
    sign_in(htmx, session)
    answer = htmx.post("/studies/new", data=FORM | data)
    assert answer.status_code == status
    assert says in answer.text
    assert session.scalars(select(Study)).all() == []


def test_who_may_not_manage_may_only_look(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    sign_in(client, session, make_administrator(session, "Bob", may_manage=False))
    assert client.get(f"/studies/{study.code}").status_code == 200
    assert client.get("/studies/new").status_code == 403
    assert client.post(f"/studies/{study.code}/close").status_code == 403
    assert client.post("/studies/new", data={"name": "Spring", "run": ["gelu"]}).status_code == 403


def test_the_page_of_a_study(htmx: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    assert htmx.get(f"/studies/{study.code}").status_code == 401
    sign_in(htmx, session)
    page = htmx.get(f"/studies/{study.code}")
    assert page.status_code == 200
    assert "of 12 verdicts" in page.text
    assert study.seal_root[:8] in page.text
    assert "marzipan, quillfeather" in page.text
    assert "Not shown while open" in page.text
    assert htmx.get("/studies/nowhere").status_code == 404
    chinese = htmx.get(f"/studies/{study.code}", headers={"accept-language": "zh"}).text
    assert language("zh-Hans").minute(study.created_at) in chinese
    assert study.created_at.strftime("%B") not in chinese


def test_closing_and_opening_again(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    assert client.post(f"/studies/{study.code}/reopen").status_code == 409
    assert client.post(f"/studies/{study.code}/close").status_code == 303
    assert session.get_one(Study, study.id).state is StudyState.CLOSED
    assert "Open again" in client.get(f"/studies/{study.code}").text
    assert client.post(f"/studies/{study.code}/close").status_code == 409
    assert client.post(f"/studies/{study.code}/reopen").status_code == 303
    assert session.get_one(Study, study.id).state is StudyState.OPEN
    whats = session.scalars(select(Event.what).order_by(Event.line)).all()
    assert whats == ["study created", "study closed", "study opened again"]


def test_the_day_a_study_will_be_done() -> None:
    days = [(date(2031, 3, day), count) for day, count in ((1, 0), (2, 10), (3, 0), (4, 20))]
    assert finished_on(21, days) == date(2031, 3, 7)
    assert finished_on(0, days) is None
    assert finished_on(5, [(date(2031, 3, 1), 0)]) is None


def test_what_would_take_centuries_has_no_date() -> None:
    days = [(date(2031, 3, 1), 1), *((date(2031, 3, day), 0) for day in range(2, 15))]
    assert finished_on(14, days) == date(2031, 9, 26)
    assert finished_on(1_000_000, days) is None


def test_a_code_names_its_study_whatever_another_is_called(session: Session, settings: Settings) -> None:
    other = make_study(session, settings, name="Winter")
    study = make_study(session, settings, name="Spring")
    other.name = study.code
    session.flush()
    assert find_study(session, study.code) is study
