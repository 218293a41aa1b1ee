"""What administrators do to a sealed study beside opening it whole: amendments, two persons, one item early."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, select, update
from sqlalchemy.orm import Session

from app import commands
from app.administrators import managing
from app.db import open_engine, transaction
from app.errors import Conflict, Invalid, NotFound, Refused
from app.models import (
    Amendment,
    EarlyOpening,
    Event,
    Item,
    ItemKey,
    OwnRater,
    Rater,
    Study,
    StudyState,
    UnblindingRequest,
)
from app.raters.queries import own_raters, rater_rows
from app.reports.exports import export, files
from app.reports.verified_tables import verify_tables
from app.roles import Role
from app.settings import Settings
from app.studies.actions import close_study, reopen_study, unblind_study
from app.studies.design import Design
from app.studies.early import open_one, opened_early, opened_file
from app.studies.opening import open_study
from app.studies.plans import amend_plan, amendments, changed, plan_now
from app.studies.proof import proof_of, root_by
from app.studies.records import record_of
from app.studies.seal import digest
from app.studies.two_persons import TO_CONFIRM, both, pending
from app.studies.unblinding import bars, checks
from app.studies.verifying import verify_export
from tests.app.seated import YES, Clock, Hand, join, stopped_clock
from tests.app.test_cli import at_home, create, glance  # noqa: F401  # a fixture
from tests.studies import PASSWORD, make_administrator, make_study, sign_in

GOOD = {"name": "Winter study", "reason": "all verdicts are in", "password": PASSWORD}


def written(session: Session, study: Study, folder: Path) -> Path:
    for file in files(session, study):
        (folder / file.name).write_bytes(file.content)
    return folder


def whole(session: Session, settings: Settings, study: Study) -> Study:
    """Closed and unblinded, by one."""
    administrator = make_administrator(session, "Zoe")
    close_study(session, study.code, administrator)
    return unblind_study(session, settings, study.code, administrator, typed_name=study.name, reason="done")


# ---- amendments ---------------------------------------------------------------------------------


def test_an_amendment_stands_beside_the_plan_and_in_the_log(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    sealed = dict(study.plan)
    first = amend_plan(session, study.code, ada, {"alpha": "0.01", "cannot_decide": "left_out"}, " a stricter level ")
    second = amend_plan(session, study.code, ada, {"late_counts": "no"}, "late ones were read in a hurry")
    assert (study.plan, [one.number for one in amendments(session, study)]) == (sealed, [1, 2])
    assert changed(study.plan, first.plan) == {"alpha": (0.05, 0.01), "cannot_decide": ("no", "left_out")}
    assert changed(first.plan, second.plan) == {"late_counts": (True, False)}
    assert plan_now(study, amendments(session, study)) == second.plan
    lines = session.scalars(select(Event.detail).where(Event.what == "plan amended").order_by(Event.line)).all()
    assert [line["before"] for line in lines] == [study.plan_digest, first.plan_digest]
    assert "stricter" not in json.dumps(lines)


def test_raters_are_left_out_by_name_or_code_and_kept_by_code(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    raters = {name: join(session, study, name).code for name in ("Kim", "Lou")}
    made = amend_plan(session, study.code, ada, {"excluded_raters": f"Kim, {raters['Lou']}"}, "they are one person")
    assert made.plan["excluded_raters"] == sorted(raters.values())


@pytest.mark.parametrize(
    ("changes", "reason", "refusal", "says"),
    [
        ({"alpha": "0.01"}, "  ", Invalid, "Say why the plan is amended"),
        ({"alpha": "0.05"}, "none", Invalid, "Nothing in the plan was changed"),
        ({"alpha": "2"}, "none", Invalid, "must lie between 0 and 1; it is 2"),
        ({"alpha": "much"}, "none", Invalid, "alpha takes a number; you gave “much”"),
        ({"late_counts": "perhaps"}, "none", Invalid, "late_counts takes yes or no"),
        ({"looks": "3"}, "none", Invalid, "“looks” is nothing in a plan that can be amended"),
        ({"baseline": "relu"}, "none", Invalid, "one of gelu, solu_ln; it is “relu”"),
        ({"version": "second"}, "none", Invalid, "one of last, first"),
        ({"excluded_raters": "Nobody"}, "none", NotFound, "no rater “Nobody”"),
    ],
)
def test_an_amendment_that_makes_no_sense_is_refused(
    session: Session, settings: Settings, changes: dict[str, str], reason: str, refusal: type[Exception], says: str
) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    with pytest.raises(refusal, match=says):
        amend_plan(session, study.code, ada, changes, reason)
    assert amendments(session, study) == []


def test_no_plan_is_amended_by_who_may_not_or_after_unblinding(session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    with pytest.raises(Refused):
        amend_plan(session, study.code, make_administrator(session, may_manage=False), {"alpha": "0.01"}, "why")
    whole(session, settings, study)
    with pytest.raises(Conflict, match="cannot be amended any more"):
        amend_plan(session, study.code, make_administrator(session, "Bob"), {"alpha": "0.01"}, "why")


def test_the_page_of_the_plan_amends_it(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    address = f"/studies/{study.code}/plan"
    assert client.get(address).status_code == 401
    sign_in(client, session)
    join(session, study, "Kim")
    assert client.get("/studies/nowhere/plan").status_code == 404
    page = client.get(address).text
    assert study.plan_digest[:8] in page
    refused = client.post(address, data={"alpha": "9", "reason": "a <b>wrong</b> level"})
    assert refused.status_code == 422
    assert "must lie between 0 and 1" in refused.text
    assert "a &lt;b&gt;wrong&lt;/b&gt; level" in refused.text
    assert client.post(address, data={"alpha": "0.01", "reason": "a stricter level"}).status_code == 303
    page = client.get(address).text
    assert "<del>0.05</del> <ins>0.01</ins>" in page
    made = amendments(session, study)[0]
    assert made.plan_digest[:8] in client.get(f"/studies/{study.code}").text
    sign_in(client, session, make_administrator(session, "Bob", may_manage=False))
    assert "Write the amendment down" not in client.get(address).text
    assert client.post(address, data={"alpha": "0.02", "reason": "another"}).status_code == 403


@pytest.mark.parametrize("page", ["plan", "open-item"])
def test_pages_that_only_name_raters_do_not_ask_how_they_work(
    client: TestClient, session: Session, settings: Settings, page: str
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    kim = join(session, study, "Kim")
    asked: list[str] = []
    event.listen(session.connection(), "before_cursor_execute", lambda *args: asked.append(args[2]))
    text = client.get(f"/studies/{study.code}/{page}").text
    assert f'value="{kim.code}"' in text
    assert "Kim" in text
    assert [statement for statement in asked if "rating" in statement.partition("FROM")[2]] == []


def test_raters_are_shown_the_digest_of_the_plan_as_it_stands(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    token = join_in_browser(client, session, study)
    assert token
    assert study.plan_digest in client.get("/rate").text
    made = amend_plan(session, study.code, make_administrator(session), {"alpha": "0.01"}, "a stricter level")
    page = client.get("/rate").text
    assert made.plan_digest in page
    assert study.plan_digest not in page


def join_in_browser(client: TestClient, session: Session, study: Study, name: str = "Kim") -> str:
    from tests.studies import open_rater

    return open_rater(client, session, study, name)


def test_an_amendment_changed_behind_the_log_bars_unblinding(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    made = amend_plan(session, study.code, ada, {"alpha": "0.01"}, "a stricter level")
    close_study(session, study.code, ada)
    assert bars(checks(session, study, open_study(session, settings, study))) == []
    session.execute(update(Amendment).where(Amendment.id == made.id).values(plan=made.plan | {"alpha": 0.2}))
    session.expire_all()
    assert "not those in the log" in bars(checks(session, study, open_study(session, settings, study)))[0]


# ---- two persons --------------------------------------------------------------------------------


@pytest.fixture
def by_two(session: Session, settings: Settings) -> Study:
    study = make_study(session, settings, unblinders=2)
    close_study(session, study.code, make_administrator(session, "Dan"))
    return study


def test_two_persons_unblind(client: TestClient, session: Session, by_two: Study) -> None:
    address = f"/studies/{by_two.code}/unblind"
    sign_in(client, session)
    assert client.post(address, data=GOOD).headers["location"].endswith("/unblind")
    assert session.get_one(Study, by_two.id).state is StudyState.CLOSED
    page = client.get(address).text
    assert "You have asked for it" in page
    assert "Take it back" in page
    assert client.post(address, data=GOOD).status_code == 409, "the same person cannot say yes"
    sign_in(client, session, make_administrator(session, "Bob"))
    page = client.get(address).text
    assert "Ada asks for it: “all verdicts are in”" in page
    assert client.post(address, data=GOOD | {"password": "something else"}).status_code == 403
    assert client.post(address, data={"name": "Winter study", "password": PASSWORD}).status_code == 303
    study = session.get_one(Study, by_two.id)
    assert (study.state, study.unblinded_by) == (StudyState.UNBLINDED, "Ada and Bob")
    assert study.unblinding_reason == "all verdicts are in"
    event = session.scalars(select(Event).where(Event.what == "study unblinded")).one()
    assert (event.actor, event.detail["asked_by"]) == ("Bob", "Ada")
    assert session.get(UnblindingRequest, study.id) is None


def test_the_first_person_can_take_it_back(client: TestClient, session: Session, by_two: Study) -> None:
    address = f"/studies/{by_two.code}/unblind"
    sign_in(client, session)
    assert client.post(f"{address}/take-back").status_code == 409
    client.post(address, data=GOOD)
    sign_in(client, session, make_administrator(session, "Bob"))
    assert client.post(f"{address}/take-back").status_code == 409
    sign_in(client, session, session.scalars(select_administrator("Ada")).one())
    assert client.post(f"{address}/take-back").status_code == 303
    assert pending(session, by_two) is None
    whats = session.scalars(select(Event.what).where(Event.study_id == by_two.id).order_by(Event.line)).all()
    assert whats[-2:] == ["unblinding asked for", "unblinding no longer asked for"]


def select_administrator(name: str) -> Any:
    from app.models import Administrator

    return select(Administrator).where(Administrator.name == name)


def test_what_was_asked_for_ends_with_time_and_with_what_it_was_about(
    session: Session, settings: Settings, by_two: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    time: Clock = stopped_clock(monkeypatch)
    ada, bob = make_administrator(session), make_administrator(session, "Bob")

    def ask() -> None:
        unblind_study(session, settings, by_two.code, ada, typed_name=by_two.name, reason="all is in")
        assert pending(session, by_two) is not None

    ask()
    time.wait(seconds=TO_CONFIRM.total_seconds() + 1)
    assert pending(session, by_two) is None
    with pytest.raises(Invalid, match="Say why"):
        unblind_study(session, settings, by_two.code, bob, typed_name=by_two.name, reason="")
    ask()
    reopen_study(session, by_two.code, ada)
    assert pending(session, by_two) is None
    close_study(session, by_two.code, ada)
    ask()
    amend_plan(session, by_two.code, bob, {"alpha": "0.01"}, "a stricter level")
    assert pending(session, by_two) is None
    assert session.get_one(Study, by_two.id).state is StudyState.CLOSED


@pytest.mark.parametrize("act", ["deactivate", "role"])
def test_who_asked_and_may_no_longer_unblind_has_asked_for_nothing(
    session: Session, settings: Settings, by_two: Study, act: str
) -> None:
    ada, bob = make_administrator(session), make_administrator(session, "Bob")
    unblind_study(session, settings, by_two.code, ada, typed_name=by_two.name, reason="all is in")
    if act == "role":
        managing.set_roles(session, bob, ada.id, frozenset({Role.MANAGE, Role.RATE}))
    else:
        managing.deactivate(session, bob, ada.id)
    assert pending(session, by_two) is None
    unblind_study(session, settings, by_two.code, bob, typed_name=by_two.name, reason="it is only asked for anew")
    assert session.get_one(Study, by_two.id).state is StudyState.CLOSED


@pytest.mark.parametrize("asks", ["Ada", "Bob"])
@pytest.mark.parametrize("act", ["added", "password", "role", "address", "reactivated"])
def test_an_account_somebody_made_for_themselves_is_no_second_person(
    session: Session, settings: Settings, by_two: Study, act: str, asks: str
) -> None:
    ada = make_administrator(session)
    if act == "added":
        bob, _ = managing.add(session, ada, "Bob")
    else:
        bob = make_administrator(session, "Bob", may_unblind=act != "role")
    if act == "password":
        managing.give_password(session, ada, bob.id)
    if act == "role":
        managing.set_roles(session, ada, bob.id, frozenset(Role))
    if act == "address":
        managing.set_email(session, ada, bob.id, "ada@example.org")
    if act == "reactivated":
        managing.deactivate(session, ada, bob.id)
        managing.reactivate(session, ada, bob.id)
    first, second = (ada, bob) if asks == "Ada" else (bob, ada)
    unblind_study(session, settings, by_two.code, first, typed_name=by_two.name, reason="all is in")
    with pytest.raises(Conflict, match="count as one person here"):
        unblind_study(session, settings, by_two.code, second, typed_name=by_two.name, reason="")
    assert session.get_one(Study, by_two.id).state is StudyState.CLOSED
    third = make_administrator(session, "Cleo")
    unblind_study(session, settings, by_two.code, third, typed_name=by_two.name, reason="")
    assert session.get_one(Study, by_two.id).state is StudyState.UNBLINDED


def test_an_account_made_before_the_study_was_sealed_is_a_second_person(session: Session, settings: Settings) -> None:
    ada = make_administrator(session)
    bob, _ = managing.add(session, ada, "Bob")
    study = make_study(session, settings, unblinders=2)
    close_study(session, study.code, ada)
    managing.set_roles(session, ada, bob.id, frozenset({Role.UNBLIND}))  # takes, and gives nothing
    for one in (ada, bob):
        unblind_study(session, settings, study.code, one, typed_name=study.name, reason="all is in")
    assert session.get_one(Study, study.id).state is StudyState.UNBLINDED


def test_two_names_fit_their_column() -> None:
    assert both("Ada", "Bob") == "Ada and Bob"
    assert len(both("a" * 100, "b" * 100)) <= 100


# ---- one item early -----------------------------------------------------------------------------


def test_one_item_is_opened_and_verified_alone(
    client: TestClient, session: Session, settings: Settings, tmp_path: Path
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    code = session.scalars(select(Item.code).where(Item.study_id == study.id)).all()[3]
    form = {"item": code, "reason": "its text must not be shown", "password": PASSWORD}
    answer = client.post(f"/studies/{study.code}/open-item", data=form)
    assert answer.headers["location"] == f"/studies/{study.code}/opened/{code}"
    page = client.get(f"/studies/{study.code}/opened/{code}").text
    file = client.get(f"/studies/{study.code}/opened/{code}.json")
    said = file.json()
    assert f"<dd>{said['arm']}</dd>" in page
    event = session.scalars(select(Event).where(Event.what == "item opened early")).one()
    sealed = session.scalars(select(ItemKey).join(Item, Item.id == ItemKey.item_id).where(Item.code == code)).one()
    assert event.detail["leaf"] == sealed.leaf == said["leaf"]
    assert "must not be shown" not in json.dumps(event.detail)
    (tmp_path / "one.json").write_bytes(file.content)
    assert verify_export(tmp_path / "one.json").faults == []
    for change in ({"item": said["item"] | {"layer": 7}}, {"root": "0" * 64}, {"path": said["path"][1:]}):
        (tmp_path / "one.json").write_text(json.dumps(said | change))
        assert verify_export(tmp_path / "one.json").faults
    (tmp_path / "one.json").write_text(json.dumps({"path": 3}))
    with pytest.raises(Invalid, match="was not understood"):
        verify_export(tmp_path / "one.json")
    sign_in(client, session, make_administrator(session, "Bob"))
    assert client.get(f"/studies/{study.code}/opened/{code}").status_code == 404, "the others may rate"
    assert client.get(f"/studies/{study.code}/opened/{code}.json").status_code == 404
    assert "1 item" in client.get(f"/studies/{study.code}").text


def test_the_item_in_somebodys_hands_is_opened(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    rater = join(session, study, "Kim")
    with pytest.raises(NotFound, match="no neuron in hand"):
        open_one(session, settings, study.code, ada, item="", rater=rater.code, reason="why not")
    hand = Hand(session, settings, rater)
    hand.begin()
    code = open_one(session, settings, study.code, ada, item="", rater=rater.code, reason="it frightens")
    assert [one.code for one in opened_early(session, study)] == [code]
    with pytest.raises(Conflict, match="was opened already"):
        open_one(session, settings, study.code, ada, item=code, rater="", reason="again")
    assert hand.give(YES)


@pytest.mark.parametrize(
    ("changes", "status", "says"),
    [
        ({"item": "nowhere"}, 404, "no item nowhere"),
        ({"item": ""}, 422, "Say which item"),
        ({"reason": " "}, 422, "Say why this item is opened"),
        ({"password": "something else"}, 403, "do not fit"),
    ],
)
def test_a_refused_opening_is_written_down_and_opens_nothing(
    client: TestClient, session: Session, settings: Settings, changes: dict[str, str], status: int, says: str
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    item = session.scalars(select(Item.code)).all()[0]
    form = {"item": item, "reason": "why", "password": PASSWORD} | changes
    answer = client.post(f"/studies/{study.code}/open-item", data=form)
    assert (answer.status_code, says in answer.text) == (status, True)
    assert session.scalars(select(EarlyOpening)).all() == []
    assert session.scalars(select(Event.actor).where(Event.what == "early opening refused")).all() == ["Ada"]
    sign_in(client, session, make_administrator(session, "Bob", may_unblind=False))
    assert client.get(f"/studies/{study.code}/open-item").status_code == 403


def test_every_leaf_has_its_way_to_the_root(session: Session, settings: Settings) -> None:
    for neurons in (1, 2, 6, 7):
        study = make_study(session, settings, name=f"Study {neurons}", neurons_per_arm=neurons)
        record = record_of(session, study)
        for code in record.leaves:
            assert root_by(record.leaves[code], proof_of(record, code)) == study.seal_root


def test_an_export_tells_all_acts_and_is_verified(session: Session, settings: Settings, tmp_path: Path) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    amend_plan(session, study.code, ada, {"alpha": "0.01"}, "a stricter level")
    code = session.scalars(select(Item.code).where(Item.study_id == study.id)).all()[0]
    open_one(session, settings, study.code, ada, item=code, rater="", reason="its text must not be shown")
    blind = json.loads(next(file.content for file in files(session, study) if file.name == "seal.json"))
    assert blind["opened_early"] == 1
    assert set(blind["amendments"][0]) == {"number", "at", "plan_digest"}
    whole(session, settings, study)
    found = verify_export(written(session, study, tmp_path))
    assert found.faults == []
    assert "The plan was amended, 1 times" in found.good
    seal = json.loads((tmp_path / "seal.json").read_bytes())
    for broken, says in (
        ({"amendments": []}, "an amendment 1, and the export does not"),
        ({"opened_early": []}, "was opened early, and the export does not"),
        ({"amendments": [seal["amendments"][0] | {"plan": study.plan}]}, "Amendment 1 is not the one"),
        ({"opened_early": [{"item": seal["opened_early"][0]["item"] | {"layer": 9}}]}, "early, is not"),
    ):  # fmt: skip
        (tmp_path / "seal.json").write_text(json.dumps(seal | broken))
        assert any(says in fault for fault in verify_export(tmp_path).faults), says


def test_acts_are_tables_of_an_export_and_verified(session: Session, settings: Settings, tmp_path: Path) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    amend_plan(session, study.code, ada, {"alpha": "0.01"}, "=a stricter level")
    amend_plan(session, study.code, ada, {"cannot_decide": "yes", "question": "Więcej?"}, "second thoughts")
    code = session.scalars(select(Item.code).where(Item.study_id == study.id)).all()[0]
    open_one(session, settings, study.code, ada, item=code, rater="", reason="its text must not be shown")
    whole(session, settings, study)
    folder = written(session, study, tmp_path)
    for frame in (
        pd.read_csv(folder / "amendments.csv"),
        pd.read_parquet(folder / "amendments.parquet"),
        pd.DataFrame(json.loads((folder / "amendments.json").read_bytes())["rows"]),
    ):
        assert frame["number"].tolist() == [1, 2]
        assert [json.loads(changes) for changes in frame["changes"]] == [
            {"alpha": [0.05, 0.01]}, {"cannot_decide": ["no", "yes"], "question": ["", "Więcej?"]},
        ]  # fmt: skip
        assert [digest(json.loads(plan)) for plan in frame["plan"]] == frame["plan_digest"].tolist()
    assert pd.read_csv(folder / "amendments.csv")["reason"].tolist() == ["'=a stricter level", "second thoughts"]
    (opened,) = json.loads((folder / "opened_early.json").read_bytes())["rows"]
    items = {row["item"]: row for row in json.loads((folder / "items.json").read_bytes())["rows"]}
    assert (opened["item"], opened["reason"]) == (code, "its text must not be shown")
    assert all(opened[name] == items[code][name] for name in ("arm", "condition", "kind", "layer", "neuron", "leaf"))
    assert verify_tables(folder).faults == []
    for name, column, value in (
        ("amendments", "plan", json.dumps(study.plan)),
        ("amendments", "number", 3),
        ("opened_early", "leaf", "0" * 64),
    ):
        before = (folder / f"{name}.json").read_bytes()
        table = json.loads(before)
        table["rows"][0][column] = value
        (folder / f"{name}.json").write_text(json.dumps(table))
        assert verify_tables(folder).faults == [f"{name}.json is not what the log says."]
        (folder / f"{name}.json").write_bytes(before)


def test_a_closed_study_tells_of_an_amendment_what_raters_were_shown(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    amend_plan(session, study.code, ada, {"alpha": "0.01"}, "a stricter level")
    close_study(session, study.code, ada)
    (row,) = json.loads(export(session, study, "amendments", "json").content)["rows"]
    assert set(row) == {"number", "at", "plan_digest", "verdicts"}
    with pytest.raises(Refused, match="once the study is unblinded"):
        export(session, study, "opened_early", "json")


def test_a_code_that_begins_with_a_dash_is_no_option(
    at_home: Settings,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    act = ("open-item", "nothing", "-bcdefghijklmnop", "--administrator", "Ada", "--reason", "so", "--password-stdin")
    assert glance(monkeypatch, *act, typed=f"{PASSWORD}\n") == 2
    assert "There is no study with the code or the name “nothing”" in capsys.readouterr().err


def test_the_commands_amend_and_open(
    at_home: Settings,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert glance(monkeypatch, "migrate") == 0
    assert glance(monkeypatch, "administrator", "add", "Ada", "--password-stdin", typed=f"{PASSWORD}\n") == 0
    study = create(monkeypatch, capsys)
    amend = ("study", "amend", study, "--set", "alpha=0.01", "--set", "late_counts=no", "--reason", "as agreed")
    assert glance(monkeypatch, *amend) == 0
    assert "Amendment 1 is written down, after 0 verdicts." in capsys.readouterr().out
    assert glance(monkeypatch, "study", "amend", study, "--set", "alpha", "--reason", "as agreed") == 2
    assert "FIELD=VALUE" in capsys.readouterr().err
    engine = open_engine(at_home.database_url)
    with transaction(engine) as session:
        item = session.scalars(select(Item.code)).all()[0]
    engine.dispose()
    act = ("open-item", study, item, "--administrator", "Ada", "--reason", "it frightens", "--password-stdin")
    assert glance(monkeypatch, *act, typed=f"{PASSWORD}\n") == 0
    (tmp_path / "one.json").write_text(capsys.readouterr().out.splitlines()[-1])
    assert glance(monkeypatch, "verify", tmp_path / "one.json") == 0
    assert commands.ACTOR == "the command line"


# ---- administrators who rate --------------------------------------------------------------------


def test_an_administrators_own_row_is_blind(client: TestClient, session: Session, settings: Settings) -> None:
    """Ada rates from the browser in which she is signed in, and calls every control interpretable."""
    study = make_study(session, settings, seats=1, neurons_per_arm=2, mixed_per_arm=2, snippets=6)
    ada, bob = sign_in(client, session), make_administrator(session, "Bob")
    join_in_browser(client, session, study, "Nobody known")
    rater = session.scalars(select(Rater).where(Rater.name == "Nobody known")).one()
    assert session.scalars(select(OwnRater.rater_id).where(OwnRater.administrator_id == ada.id)).all() == [rater.id]
    hand = Hand(session, settings, rater)
    hand.begin()
    while hand.page.state == "item":
        hand.give(YES)
    known = "controls: %(yes)s of %(n)s called interpretable"
    assert known in [flag.message for flag in rater_rows(session, study, bob)[0].flags]
    assert known not in [flag.message for flag in rater_rows(session, study, ada)[0].flags]
    assert "4 of 4 called interpretable" not in client.get(f"/studies/{study.code}").text


def test_signing_in_where_one_rates_and_bearing_its_name_are_known_too(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    join_in_browser(client, session, study)
    rater = session.scalars(select(Rater)).one()
    ada = make_administrator(session)
    assert own_raters(session, study, ada) == set()
    client.post("/sign-in", data={"name": "Ada", "password": PASSWORD})
    assert own_raters(session, study, ada) == {rater.id}
    assert own_raters(session, study, make_administrator(session, "Kim")) == {rater.id}


def test_the_opened_file_names_the_arm_of_the_draw(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    code = session.scalars(select(Item.code).where(Item.study_id == study.id)).all()[0]
    open_one(session, settings, study.code, ada, item=code, rater="", reason="why")
    said = opened_file(session, study, opened_early(session, study)[0])
    arms = [arm["name"] for arm in record_of(session, study).arms]
    key = next(k for k in open_study(session, settings, study).items.values() if k["code"] == code)
    assert (said["arm"], said["item"]) == (arms[key["arm"]], key)
    assert Design.of(study.design).unblinders == 1
