"""One whole study, sealed, rated, closed and unblinded by the acts of the application, then reported and checked."""

import io
import json
import random
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, select
from sqlalchemy.orm import Session

from app.models import Item, OpenedItem, Study, Verdict
from app.reports.exports import files
from app.reports.folder import report_files
from app.reports.neuronpedia import neuronpedia_files
from app.reports.page import standalone
from app.reports.queries import unblinded_study
from app.reports.rated_items import PAGE, all_items
from app.reports.report import make_report
from app.settings import Settings
from app.studies.actions import close_study, unblind_study
from app.studies.early import open_one
from app.studies.plans import amend_plan
from app.studies.verifying import verify_export
from tests.app.seated import Hand, join
from tests.runs import make_run
from tests.studies import make_administrator, make_study, sign_in

DESIGN = {
    "neurons_per_arm": 8,
    "snippets": 8,
    "overlap": 2,
    "mixed_per_arm": 1,
    "repeats_per_arm": 1,
    "repeat_distance": 2,
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Two runs of one size, so that they can be compared."""
    folder = tmp_path_factory.mktemp("runs")
    for condition in ("gelu", "solu_ln"):
        make_run(folder / condition, condition, size=611_328)
    return folder / "gelu", folder / "solu_ln"


@pytest.fixture
def study(session: Session, settings: Settings, runs: tuple[Path, ...]) -> Study:
    """Three raters say yes to about two thirds of everything; every item gets its verdicts."""
    study = make_study(session, settings, runs=runs, seats=3, **DESIGN)
    chance = random.Random(5)
    for name in ("Kim", "Lou", "Max"):
        hand = Hand(session, settings, join(session, study, name))
        hand.begin()
        while hand.page.state == "item":
            verdict = Verdict.INTERPRETABLE if chance.random() < 0.66 else Verdict.NOT_INTERPRETABLE
            hand.give(verdict, f"rule of {name}")
    administrator = make_administrator(session)
    close_study(session, study.code, administrator)
    unblind_study(session, settings, study.code, administrator, typed_name=study.name, reason="all is in")
    return unblinded_study(session, study.code)


def test_an_export_is_verified_without_the_database(session: Session, study: Study, tmp_path: Path) -> None:
    for file in files(session, study):
        (tmp_path / file.name).write_bytes(file.content)
    found = verify_export(tmp_path)
    assert found.faults == []
    assert any("log is whole" in line for line in found.good)
    seal = json.loads((tmp_path / "seal.json").read_bytes())
    seal["items"][0]["arm"], seal["items"][1]["layer"] = "another", 99
    (tmp_path / "seal.json").write_text(json.dumps(seal), encoding="utf-8")
    assert verify_export(tmp_path).faults


def test_the_archive_is_verified_too(client: TestClient, session: Session, study: Study, tmp_path: Path) -> None:
    sign_in(client, session, make_administrator(session, "Bob"))
    content = client.get(f"/studies/{study.code}/exports/everything.zip").content
    (tmp_path / "export.zip").write_bytes(content)
    assert verify_export(tmp_path / "export.zip").faults == []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        ratings = pd.read_csv(archive.open("Winter study export/ratings.csv"))
    assert set(ratings["hypothesis"]) == {"rule of Kim", "rule of Lou", "rule of Max"}


def test_the_report_counts_what_was_drawn_shown_and_said(session: Session, study: Study) -> None:
    report = make_report(session, study)
    kinds = Counter(session.scalars(select(Item.kind).where(Item.study_id == study.id)))
    assert (report.flow.shown, report.flow.controls, report.flow.repeats) == (16, 2, 2)
    assert sum(kinds.values()) == 20
    assert study.opened is not None
    assert sum(report.flow.replaced.values()) == len(study.opened["replaced"]) > 0
    assert set(report.flow.replaced) <= {"never fired", "never positive", "too few snippets"}
    assert report.found is not None
    assert report.found.analysis.verdicts == sum(arm.verdicts for arm in report.arms) == 2 * (6 + 2 * 3)
    assert report.found.analysis.agreement.items == 4
    assert (report.flow.verdicts_on_controls, report.flow.rated, report.flow.invited) == (2, 3, 3)


def test_the_appendix_has_the_snippets_raters_saw(client: TestClient, session: Session, study: Study) -> None:
    sign_in(client, session, make_administrator(session, "Bob"))
    pages = [client.get(f"/studies/{study.code}/report/items?page={page}").text for page in (1, 2)]
    opened = session.scalars(select(OpenedItem).join(Item).where(Item.study_id == study.id)).all()
    assert sum(page.count('class="panel rated"') for page in pages) == len(opened) == 20
    assert sum(page.count("<input type=checkbox id=w") for page in pages) == 20 * 8
    assert all(f'id="w{code}-"' in "".join(pages) for code in session.scalars(select(Item.code)))


def test_the_same_study_gives_the_same_report(session: Session, study: Study) -> None:
    first, second = ({file.name: file.content for file in report_files(make_report(session, study))} for _ in range(2))
    assert first == second
    assert {
        "report.html",
        "report.pdf",
        "report.json",
        "fraction.svg",
        "fraction.png",
        "difference.json",
        "raters.svg",
    } <= set(first)
    assert first["fraction.png"].startswith(b"\x89PNG")


def test_snippets_are_given_out_as_neuronpedia_keeps_them(client: TestClient, session: Session, study: Study) -> None:
    """A line a snippet, strongest first, with the values that were measured; hypotheses beside them."""
    sign_in(client, session, make_administrator(session, "Bob"))
    content = client.get(f"/studies/{study.code}/exports/neuronpedia.zip").content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = {
            name.split("/", 1)[1]: [json.loads(line) for line in archive.read(name).splitlines()]
            for name in archive.namelist()
        }
    activations = [line for name, lines in found.items() if "/activations/" in name for line in lines]
    assert len(activations) == 16 * 8
    assert all(name.startswith("v1/") and name.endswith("/batch-0.jsonl") for name in found)
    for line in activations:
        assert len(line["tokens"]) == len(line["values"])
        assert line["maxValue"] == line["values"][line["maxValueTokenIndex"]] == max(line["values"])
        assert isinstance(line["index"], str)
    neurons = {(line["modelId"], line["layer"], line["index"]) for line in activations}
    opened = session.scalars(select(OpenedItem).join(Item).where(Item.study_id == study.id)).all()
    assert len(neurons) == 16
    assert {(int(layer.split("-")[0]), int(index)) for _, layer, index in neurons} <= {
        (one.layer, one.index) for one in opened
    }
    written = {line["description"] for name, lines in found.items() if "/explanations/" in name for line in lines}
    assert written == {"rule of Kim", "rule of Lou", "rule of Max"}


def test_replicate_models_share_no_id_of_neuronpedias(session: Session, settings: Settings, tmp_path: Path) -> None:
    for seed in range(2):
        make_run(tmp_path / f"{seed}", seed=seed, name=f"gelu-{seed}", checkpoint_digest=f"{seed}" * 64)
    study = make_study(session, settings, runs=(tmp_path / "0", tmp_path / "1"), neurons_per_arm=32, snippets=2)
    ada = make_administrator(session)
    close_study(session, study.code, ada)
    unblind_study(session, settings, study.code, ada, typed_name=study.name, reason="no more verdicts come")
    found = [
        line
        for file in neuronpedia_files(session, unblinded_study(session, study.code))
        for line in file.content.splitlines()
    ]
    assert len({json.loads(line)["id"] for line in found}) == len(found) == 2 * 32 * 2


def test_a_file_reads_its_items_together_and_not_page_by_page(session: Session, study: Study) -> None:
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        sent.append(statement)

    connection = session.connection()
    event.listen(connection, "before_cursor_execute", note)
    assert len(all_items(session, study)) == 2 * PAGE
    event.remove(connection, "before_cursor_execute", note)
    assert len(sent) == 4


def test_the_report_speaks_chinese_with_the_same_numbers(client: TestClient, session: Session, study: Study) -> None:
    sign_in(client, session, make_administrator(session, "Bob"))
    english = client.get(f"/studies/{study.code}/report").text
    chinese = client.get(f"/studies/{study.code}/report?language=zh-Hans").text
    assert '<article class="read" lang="zh-Hans">' in chinese
    assert "可解释比例" in chinese
    assert "主要检验是置换检验" in chinese
    assert "判为可解释" in chinese
    for number in ("48 (", "23 %"):
        assert (number in english) == (number in chinese)
    for sentence in ("The primary test is", "Thick line:", "drawn from", "What could not be computed", "Drift"):
        assert sentence not in chinese
    for figure in ("flow", "fraction"):
        assert client.get(f"/studies/{study.code}/report/figures/{figure}.svg").status_code == 200
    assert "附录" in client.get(f"/studies/{study.code}/report.html").text


def test_amendments_and_early_openings_are_in_the_report(
    client: TestClient, session: Session, settings: Settings, runs: tuple[Path, ...]
) -> None:
    """A rater is left out by an amendment, and one item was opened: both plans are computed, the item is left out."""
    study = make_study(session, settings, runs=runs, seats=2, neurons_per_arm=8, snippets=8, overlap=8)
    ada = make_administrator(session)
    for name, verdict in (("Kim", Verdict.INTERPRETABLE), ("Lou", Verdict.NOT_INTERPRETABLE)):
        hand = Hand(session, settings, join(session, study, name))
        hand.begin()
        while hand.page.state == "item":
            hand.give(verdict)
    item = session.scalars(select(Item.code).where(Item.study_id == study.id).order_by(Item.code)).all()[0]
    open_one(session, settings, study.code, ada, item=item, rater="", reason="its text frightened Kim")
    amend_plan(session, study.code, ada, {"excluded_raters": "Lou"}, "Lou had seen the runs")
    close_study(session, study.code, ada)
    unblind_study(session, settings, study.code, ada, typed_name=study.name, reason="all is in")
    report = make_report(session, unblinded_study(session, study.code))
    assert report.found is not None
    assert report.amended is not None
    assert (report.amended.verdicts, report.found.analysis.verdicts) == (2 * 15, 15)
    assert report.amended.differs
    assert {arm.fraction.value for arm in report.arms} == {1.0}
    assert [one.code for one in report.opened_early] == [item]
    assert report.flow.left_out == {"named in the plan": 1}
    assert (report.flow.with_verdict, report.flow.analysed, report.flow.rated) == (16, 15, 2)
    counts = {row.rule: row.verdicts for row in report.found.analysis.sensitivity}
    assert counts["items that were opened early counted"] == 16
    assert counts["excluded raters counted"] == 30
    sign_in(client, session, ada)
    page = client.get(f"/studies/{study.code}/report").text
    for said in ("Lou had seen the runs", "nobody → Rater B", "as sealed", "as amended", "its text frightened Kim"):
        assert said in page
    assert page.count('id="undefined"') == 1
    assert "1 item opened before unblinding were left out." in page
    assert "They are left out of every figure" in page
    counting = replace(report, plan=replace(report.plan, opened_early_counts=True))
    page = standalone(counting).decode()
    assert "opened before unblinding" not in page
    assert "The plan counts them; the sensitivity table has the main difference without them." in page
