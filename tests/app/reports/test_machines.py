"""Machine raters in the report: a section of their own, and in no number of people's."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.models import (
    CallOutcome,
    ItemKind,
    MachineCall,
    MachineRater,
    MachineVerdict,
    RaterKind,
    SealedRules,
    Study,
    StudyState,
)
from app.reports.queries import verdicts
from app.reports.report import as_json, make_report
from app.reports.statistics.analysis import analyse
from app.reports.statistics.machines import compared, machine_figures
from app.reports.statistics.plan import Plan
from app.reports.statistics.verdicts import VERDICTS, complete, counted
from app.reports.words import KINDS, OUTCOMES, Words
from app.settings import Settings
from app.studies.actions import close_study
from app.studies.rules import open_rules
from app.words.language import language
from model_runner.run.folder import open_run
from model_runner.run.rules import RULES_NAME, RunRules, UnitRule, rules_digest
from model_runner.run.rules import as_json as rules_json
from tests.app.crawl import crawl
from tests.app.rated import (
    LETTERS,
    Rated,
    counted_unlike_read,
    make_assignment,
    make_rater,
    make_rating,
    make_sitting,
    rated_study,
)
from tests.studies import PASSWORD, make_administrator, make_study, sign_in, two_runs

ROWS = st.tuples(
    st.integers(0, 11), st.integers(0, 3), st.sampled_from(["human", "machine", "simulated"]), st.sampled_from(VERDICTS)
)


def table(rows: list[tuple[int, int, str, str]]) -> pd.DataFrame:
    """Verdicts on 12 neurons of two arms; raters 0 to 3 of each kind are different ones."""
    kinds = {"human": 0, "machine": 10, "simulated": 20}
    cells = {
        (neuron, kinds[kind] + rater): (neuron, kinds[kind] + rater, kind, said) for neuron, rater, kind, said in rows
    }
    made = pd.DataFrame(cells.values(), columns=["neuron", "rater", "rater_kind", "verdict"])
    arm = (made["neuron"] >= 6).astype(int)
    condition = arm.map({0: "gelu", 1: "solu_ln"})
    return made.assign(
        arm=arm, condition=condition, size=1000, model_seed=0, kind="neuron", item=made["neuron"].astype(str)
    )


@given(st.lists(ROWS, min_size=1, max_size=40))
def test_no_number_of_people_changes_with_what_programs_say(rows: list[tuple[int, int, str, str]]) -> None:
    plan = Plan(baseline="gelu", resamples=100)
    everybody = table(rows)
    people = everybody[everybody["rater_kind"] == "human"].reset_index(drop=True)
    if people.empty:
        with pytest.raises(ValueError, match="No verdict of a human rater"):
            analyse(everybody, plan, 1)
        return
    pd.testing.assert_frame_equal(
        counted(complete(everybody), plan).reset_index(drop=True)[people.columns],
        counted(complete(people), plan).reset_index(drop=True)[people.columns],
    )
    if people["condition"].nunique() == 2:
        assert asdict(analyse(everybody, plan, 1)) == asdict(analyse(people, plan, 1))


@given(st.lists(ROWS, min_size=1, max_size=40), st.lists(st.sampled_from("INC"), min_size=12, max_size=12))
def test_a_machines_numbers_come_from_its_own_verdicts(rows: list[tuple[int, int, str, str]], said: list[str]) -> None:
    plan = Plan(baseline="gelu", resamples=100)
    own = table([(neuron, 0, "machine", LETTERS[letter].value) for neuron, letter in enumerate(said)])
    everybody = table(rows)
    found = machine_figures(own, everybody, plan, 1, "m")
    assert found is not None
    for arm, part in zip(found.arms, (said[:6], said[6:]), strict=True):
        assert arm.fraction.value == pytest.approx(part.count("I") / 6)
    without = everybody[everybody["rater_kind"] == "human"]
    again = machine_figures(own, without.reset_index(drop=True), plan, 1, "m")
    assert again == found
    people = counted(complete(everybody), plan).groupby("neuron")["interpretable"].mean()
    decided = {neuron: share > 0.5 for neuron, share in people.items() if share != 0.5}
    assert found.agreement.items == len(decided)
    assert found.ties == len(people) - len(decided)
    if decided:
        agreeing = np.mean([(said[int(neuron)] == "I") == yes for neuron, yes in decided.items()])
        assert found.agreement.percent.value == pytest.approx(agreeing)


def test_agreement_of_known_verdicts() -> None:
    plan = Plan(baseline="gelu", resamples=100)
    own = table([(n, 0, "machine", VERDICTS[0 if n in (0, 1, 2, 6, 7, 8) else 1]) for n in range(12)])
    people = table([(n, 0, "human", VERDICTS[0 if n in (0, 1, 6, 7, 8, 9) else 1]) for n in range(12)])
    counts_NQ, ties = compared(
        own.assign(interpretable=(own["verdict"] == VERDICTS[0]).astype(float)), counted(complete(people), plan)
    )
    assert ties == 0
    assert counts_NQ.tolist().count([1, 1]) == 2
    found = machine_figures(own, people, plan, 1, "m")
    assert found is not None
    assert found.agreement.percent.value == pytest.approx(10 / 12)
    assert found.agreement.ac1.value == pytest.approx((10 / 12 - 0.5) / 0.5)  # both say yes to half: chance is one half
    assert found.differences[0].difference.value == pytest.approx(0.0)


# ---- the report ---------------------------------------------------------------------------------


@pytest.fixture
def rated(session: Session) -> Rated:
    return rated_study(session, (["II", "NN", "IN", "NN", "IC", "NN"], ["II", "II", "IN", "NI", "II", "NN"]))


def add_machine(session: Session, rated: Rated, letters: str, name: str = "a model <1>") -> MachineRater:
    machine = MachineRater(study_id=rated.study.id, name=name, model="m", endpoint="http://h/v1", settings={})
    session.add(machine)
    session.flush()
    for item, letter in zip(rated.items, letters, strict=True):
        session.add(MachineVerdict(machine_rater_id=machine.id, item_id=item.id, verdict=LETTERS[letter]))
    session.flush()
    return machine


def without_machines(session: Session, rated: Rated) -> dict[str, Any]:
    found = as_json(make_report(session, rated.study))
    found.pop("machines")
    found.pop("record")  # it holds the log's head
    return found


def test_a_machine_has_a_section_and_changes_nothing_else(client: TestClient, session: Session, rated: Rated) -> None:
    before = without_machines(session, rated)
    add_machine(session, rated, "IINNINIIIIIN")
    assert without_machines(session, rated) == before
    (machine,) = as_json(make_report(session, rated.study))["machines"]
    assert machine["name"] == "a model <1>"
    fractions = {one["arm"]["condition"]: one["fraction"]["value"] for one in machine["figures"]["arms"]}
    assert fractions == {"gelu": pytest.approx(0.5), "solu_ln": pytest.approx(5 / 6)}
    difference = machine["figures"]["differences"][0]["difference"]
    assert difference["value"] == pytest.approx(1 / 3)
    assert "neuron bootstrap" in difference["method"]
    sign_in(client, session)
    page = client.get(f"/studies/{rated.study.code}/report").text
    assert 'id="machines"' in page
    assert "a model &lt;1&gt;" in page
    assert "a model <1>" not in page
    assert client.get(f"/studies/{rated.study.code}/report.html").text.count('id="machines"') == 1
    for form in ("svg", "png", "json"):
        assert client.get(f"/studies/{rated.study.code}/report/figures/machines.{form}").status_code == 200


def test_a_study_without_machines_has_no_such_section(client: TestClient, session: Session, rated: Rated) -> None:
    sign_in(client, session)
    assert 'id="machines"' not in client.get(f"/studies/{rated.study.code}/report").text
    assert client.get(f"/studies/{rated.study.code}/report/figures/machines.svg").status_code == 404


def test_a_program_that_came_in_by_a_link_enters_no_figure_of_people(session: Session, rated: Rated) -> None:
    before = make_report(session, rated.study).found
    machine = make_rater(session, rated.study, 9, RaterKind.MACHINE)
    sitting = make_sitting(session, machine)
    for place, item in enumerate(rated.items, 1):
        make_rating(session, make_assignment(session, item, machine, place), sitting, "I")
    session.flush()
    assert set(verdicts(session, rated.study)["rater_kind"]) == {"human", "machine"}
    after = make_report(session, rated.study).found
    assert before is not None
    assert after is not None
    assert after.analysis == before.analysis


# ---- rules, sealed with a study -----------------------------------------------------------------


def runs_with_rules(folder: Path) -> tuple[Path, ...]:
    """The two small runs, with a rule for every second neuron of the first and for all of the second."""
    made = []
    for number, run in enumerate(two_runs()):
        made.append(Path(copytree(run, folder / run.name)))
        opened = open_run(made[-1])
        rows = np.flatnonzero(opened.units["state"] == 0).tolist()
        units = [_rule(row, yes=number == 1 or row % 2 == 0, arm=number) for row in rows]
        rules = RunRules(run_digest=opened.info.digest, settings={"cover": 0.8, "most_common": 0.05}, units=units)
        content = rules_json(replace(rules, digest=rules_digest(rules_json(rules))))
        (made[-1] / RULES_NAME).write_text(json.dumps(content))
    return tuple(made)


def _rule(row: int, *, yes: bool, arm: int) -> UnitRule:
    return UnitRule(
        unit=row, verdict="INTERPRETABLE" if yes else "NOT_INTERPRETABLE", rule=f'token "zyzzyva{arm}-{row}"',
        kind="token" if row % 3 else "tokens", covered=18 if yes else 7, of=20, base_rate=0.001,
        hypothesis=f"Fires on zyzzyva{arm}-{row}." if yes else "",
    )  # fmt: skip


def test_rules_are_in_no_byte_before_unblinding(
    client: TestClient, session: Session, settings: Settings, tmp_path: Path
) -> None:
    study = make_study(session, settings, runs=runs_with_rules(tmp_path), neurons_per_arm=6, seats=2, overlap=2)
    row = session.get_one(SealedRules, study.id)
    assert b"zyzzyva" not in row.sealed
    assert b"INTERPRETABLE" not in row.sealed
    assert open_rules(session, study) is None
    seen = crawl(client, session, study)
    assert len(seen.sent) > 100
    assert not [sent.asked for sent in seen.sent if "zyzzyva" in sent.text or "rule rater" in sent.text.lower()]


def test_rules_open_with_the_secret_and_are_those_of_the_runs(
    client: TestClient, session: Session, settings: Settings, tmp_path: Path
) -> None:
    runs = runs_with_rules(tmp_path)
    study = make_study(session, settings, runs=runs)
    administrator = make_administrator(session)
    sign_in(client, session, administrator)
    close_study(session, study.code, administrator)
    data = {"name": study.name, "reason": "all is in", "password": PASSWORD}
    assert client.post(f"/studies/{study.code}/unblind", data=data).status_code == 303
    study = session.get_one(Study, study.id)
    assert study.state is StudyState.UNBLINDED
    rules = open_rules(session, study)
    assert rules is not None
    units = [{unit.unit: unit for unit in found.units} for run in runs if (found := open_run(run).rules())]
    assert [arm["judged"] for arm in rules.arms] == [len(found) for found in units]
    report = client.get(f"/studies/{study.code}/report.json").json()
    (machine,) = report["machines"]
    assert machine["name"] == "Rule rater"
    values = {one["arm"]["condition"]: one["fraction"]["value"] for one in machine["figures"]["arms"]}
    assert values["solu_ln"] == 1.0
    expected = [rule["verdict"] == "INTERPRETABLE" for rule in rules.items.values() if "zyzzyva0-" in rule["rule"]]
    assert len(expected) == 6
    assert values["gelu"] == pytest.approx(sum(expected) / 6)
    assert [one["fraction"]["value"] for one in machine["of_all"]][1] == 1.0
    assert machine["figures"]["agreement"]["percent"]["value"] is None  # nobody rated
    assert "The rule rater over all neurons" in client.get(f"/studies/{study.code}/report").text
    assert counted_unlike_read(session, study) == []
    _changed_rules_are_found(session, study)


def _changed_rules_are_found(session: Session, study: Any) -> None:
    row = session.get_one(SealedRules, study.id)
    row.sealed = row.sealed[:-1] + bytes([row.sealed[-1] ^ 1])
    session.flush()
    with pytest.raises(Conflict, match="not those that were sealed"):
        open_rules(session, study)


def test_a_study_whose_runs_have_no_rules_has_none(session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    assert session.scalars(select(SealedRules).where(SealedRules.study_id == study.id)).all() == []


def test_what_machines_said_is_in_tables_of_its_own(client: TestClient, session: Session, rated: Rated) -> None:
    machine = add_machine(session, rated, "IINNINIIIIIN")
    session.add(MachineCall(machine_rater_id=machine.id, item_id=rated.items[0].id, detail="cut off"))
    session.flush()
    sign_in(client, session)
    assert counted_unlike_read(session, rated.study) == []
    exports = f"/studies/{rated.study.code}/exports"
    rows = client.get(f"{exports}/machine_verdicts.json").json()["rows"]
    assert {row["item"]: row["verdict"][0] for row in rows} == {
        item.code: letter for item, letter in zip(rated.items, "IINNINIIIIIN", strict=True)
    }
    assert {row["rater_kind"] for row in rows} == {"machine"}
    (call,) = client.get(f"{exports}/machine_calls.json").json()["rows"]
    assert (call["outcome"], call["detail"], call["cost"]) == ("started", "cut off", None)
    assert machine.code not in client.get(f"{exports}/ratings.csv").text
    assert machine.code not in client.get(f"{exports}/raters.csv").text


def test_outcomes_of_calls_and_kinds_of_items_are_said_in_both_languages() -> None:
    assert set(OUTCOMES) == set(CallOutcome)
    assert set(KINDS) == set(ItemKind)
    assert Words(language("en")).outcomes({"answered": 1200, "timed_out": 1}) == "1\u202f200 answered, 1 timed out"
    chinese = Words(language("zh-Hans"))
    said = chinese.outcomes(dict.fromkeys(OUTCOMES, 1)) + "".join(map(chinese.kind, KINDS))
    assert not any(letter.isascii() and letter.isalpha() for letter in said)
