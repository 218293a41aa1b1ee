"""An export tells of amendments and early openings, and is verified with them."""

import json
from pathlib import Path

import pandas as pd
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Item
from app.reports.exports import files
from app.reports.verified_tables import verify_tables
from app.settings import Settings
from app.studies.early import open_one
from app.studies.plans import amend_plan
from app.studies.seal import digest
from app.studies.verifying import verify_export
from tests.app.studies.acts import whole, written
from tests.studies import make_administrator, make_study


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
