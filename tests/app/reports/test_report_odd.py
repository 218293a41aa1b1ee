"""Studies that a reviewer would try: next to nothing rated, one rater, three arms, no yes at all, uneven sizes."""

import io
import json
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Arm, Assignment, Guess, OpenedItem, Rating, StudyState
from app.reports.exports import files
from app.reports.page import standalone
from app.reports.pdf import pdf
from app.reports.rated_items import all_items
from app.reports.report import as_json, make_report
from app.reports.undefined import undefined
from app.reports.words import Words
from app.words.language import language
from tests.app.rated import Rated, rated_study

THREE = ("gelu", "solu_ln", "gelu_ln")
ODD: dict[str, dict[str, Any]] = {
    "nothing rated": {"verdicts": [[".", "."], ["."]], "raters": 1},
    "no neuron in one arm": {"verdicts": [[], ["I", "N"]]},
    "one neuron an arm": {"verdicts": ["I", "N"], "raters": 1},
    "two neurons an arm": {"verdicts": [["II", "IN"], ["NN", "NI"]], "raters": 2},
    "one rater": {"verdicts": ["INNC" * 4, "IIIN" * 4], "raters": 1},
    "three arms": {"verdicts": ["INN", "IIN", "ICI"], "conditions": THREE, "raters": 3},
    "an arm of cannot decide": {"verdicts": ["CCCCCC", "IIINNI"], "raters": 2},
    "nothing but cannot decide": {"verdicts": ["CCC", "CC"], "raters": 2},
    "all yes against all no": {"verdicts": ["N" * 12, "I" * 12], "raters": 3},
    "uneven": {"verdicts": ["I", ["IIN", "N.N", "I..", ".N.", "INI", "NNN", "I", "N"]], "raters": 3},
    "no baseline": {"verdicts": ["INI", "NNI"], "conditions": ("solu", "solu_ln"), "raters": 2},
    "replicates": {"verdicts": ["ININ", "NNIN", "IIIN", "INII"], "conditions": ("gelu", "gelu", "solu", "solu")},
}


@pytest.fixture(params=ODD)
def odd(session: Session, request: pytest.FixtureRequest) -> Rated:
    rated = rated_study(session, **{"raters": 2} | ODD[request.param])
    for number, arm in enumerate(rated.study.arms if request.param == "replicates" else ()):
        arm.seed = number
    session.flush()
    return rated


@pytest.mark.parametrize("code", ["en", "zh-Hans"])
def test_its_report_is_whole(session: Session, odd: Rated, code: str) -> None:
    speaking, report = language(code), make_report(session, odd.study)
    appendix = all_items(session, odd.study)
    html = standalone(report, speaking, appendix).decode()
    for strange in ("None", "nan", "inf ", "Undefined", "Traceback", "%("):
        assert strange not in html.partition("</style>")[2], strange
    if code == "zh-Hans":
        assert pdf(report, speaking, appendix).startswith(b"%PDF")


def test_its_numbers_are_finite_or_say_why(session: Session, odd: Rated) -> None:
    report = make_report(session, odd.study)
    found = json.loads(json.dumps(as_json(report), allow_nan=False))
    assert (found["analysis"] is None) == bool(found["why_empty"])
    if report.found is None:
        assert found["leads"] == found["arms"] == []
        return
    assert [arm["neurons"] for arm in found["arms"]] == [_counted(session, arm) for arm in odd.study.arms]
    for lead in report.leads:
        whys = [one.why for one in undefined(report.found.analysis)]
        assert lead.difference.neurons.low is not None or lead.difference.neurons.why in whys


def _counted(session: Session, arm: Arm) -> int:
    """Neurons of the arm with a verdict."""
    rated = select(Assignment.item_id).join(Rating, Rating.assignment_id == Assignment.id)
    of_arm = select(func.count()).where(OpenedItem.arm_id == arm.id, OpenedItem.item_id.in_(rated))
    return session.scalars(of_arm).one()


@pytest.mark.parametrize("state", [StudyState.CLOSED, StudyState.UNBLINDED])
def test_pandas_opens_its_exports_alike(session: Session, odd: Rated, state: StudyState) -> None:
    odd.study.state = state
    tables: dict[str, dict[str, pd.DataFrame]] = {}
    for file in files(session, odd.study):
        name, _, form = file.name.partition(".")
        if form == "csv":
            tables.setdefault(name, {})[form] = pd.read_csv(io.BytesIO(file.content))
        elif form == "parquet":
            tables.setdefault(name, {})[form] = pd.read_parquet(io.BytesIO(file.content))
        elif name != "seal":
            tables.setdefault(name, {})[form] = pd.DataFrame(json.loads(file.content)["rows"])
    assert "ratings" in tables
    for name, forms in tables.items():
        sizes = {form: table.shape for form, table in forms.items() if len(forms["csv"])}
        assert len(set(sizes.values())) <= 1, (name, sizes)
        assert list(forms["csv"].columns) == list(forms["parquet"].columns)


def test_a_rater_may_have_guessed_a_condition_of_which_no_verdict_counts(session: Session) -> None:
    rated = rated_study(session, **{**ODD["no neuron in one arm"], "raters": 1})
    rated.study.design = rated.study.design | {"guesses": 2}
    for item in rated.items:
        session.add(Guess(rater_id=rated.raters[0].id, item_id=item.id, condition="gelu", seconds=3.0))
    session.flush()
    report = make_report(session, rated.study)
    assert report.found is not None
    assert report.found.analysis.blinding is not None
    assert report.found.analysis.blinding.chance == 1 / 2
    said = {row.condition: (row.right, row.wrong) for row in report.found.analysis.blinding.conditions}
    assert said == {"solu_ln": (0, 2), "gelu": (0, 0)}


def test_what_stratum_is_empty_is_said_in_chinese_and_by_the_letter_of_its_rater(session: Session) -> None:
    rated = rated_study(session, verdicts=["INNIIN", "IIIINN"], raters=3)
    report = make_report(session, rated.study)
    assert report.found is not None
    (across,) = report.found.analysis.across
    assert across.by_rater.test.why.startswith("In the stratum of rater ")
    assert across.by_rater.test.why.removeprefix("In the stratum of rater ")[0] in "ABC"
    said = Words(language("zh-Hans")).said(across.by_rater.test.why)
    assert "层" in said
    assert "rater" not in said
