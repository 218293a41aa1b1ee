"""The numbers of the report are the analysis's, on the page and in the files."""

import json
import re
from html import unescape

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.models import ItemKind, RaterKind
from app.reports.amended import plans_of
from app.reports.flow import offered
from app.reports.queries import pages, verdicts
from app.reports.record import seed_of
from app.reports.report import make_report
from app.reports.statistics.analysis import analyse, to_json
from tests.app.rated import (
    Rated,
    make_assignment,
    make_item,
    make_rater,
    make_rating,
    make_sitting,
    rated_study,
)
from tests.studies import sign_in


def text_of(html: str) -> str:
    """What a reader reads: tags gone, spaces single."""
    body = re.sub(r"<(style|svg).*?</\1>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))


def test_page_and_json_say_what_the_analysis_says(client: TestClient, session: Session, rated: Rated) -> None:
    sign_in(client, session)
    table, plan, seed = (
        verdicts(session, rated.study),
        plans_of(session, rated.study, [])[1],
        seed_of(rated.study.seal_root),
    )
    expected = to_json(analyse(table, plan, seed, arms=offered(rated.study), pages=pages(session, rated.study)))
    found = client.get(f"/studies/{rated.study.code}/report.json").json()
    assert found["analysis"] == expected
    assert found["record"]["bootstrap_seed"] == seed == int(rated.study.seal_root[:8], 16)
    gelu, solu = found["arms"]
    assert (gelu["neurons"], gelu["verdicts"]) == (6, 7)
    assert (gelu["interpretable"], gelu["not_interpretable"], gelu["cannot_decide"]) == (2, 4, 1)
    assert gelu["fraction"]["value"] == pytest.approx((0.5 + 1) / 6)
    assert solu["fraction"]["value"] == pytest.approx(5 / 6)
    text = text_of(client.get(f"/studies/{rated.study.code}/report").text)
    bounds = expected["differences"][0]["neurons"]
    interval = f"{100 * bounds['low']:.1f} to {100 * bounds['high']:.1f}".replace("-", "−")
    for said in (
        "83.3 % of SoLU + LN neurons", "25.0 % of GELU neurons", "a difference of 58.3 points",
        f"{interval} for these raters",
        str(seed), rated.study.seal_root, rated.study.plan_digest, "all verdicts are in", "Ada",
        f"glance report {rated.study.code} --out report", "Sentences for tests", "Apache-2.0", "4.310", "4.290",
    ):  # fmt: skip
        assert said in text.replace("\xa0", " "), said
    assert "SIMULATED" not in text


def test_the_report_does_not_depend_on_the_numbers_of_rows(session: Session, rated: Rated) -> None:
    table = verdicts(session, rated.study)
    assert sorted(set(table["neuron"])) == list(range(12))
    assert set(table["arm"]) == set(table["rater"]) == {0, 1}
    by_code = sorted(rated.items, key=lambda item: item.code)
    first = next(i for i, item in enumerate(by_code) if item is rated.items[0])
    assert set(table[table["position"] == 1]["neuron"]) >= {first}


def test_simulated_verdicts_are_labelled_everywhere(client: TestClient, session: Session) -> None:
    rated = rated_study(session, kind=RaterKind.SIMULATED)
    sign_in(client, session)
    base = f"/studies/{rated.study.code}"
    page = client.get(f"{base}/report").text
    assert "Simulated raters called" in text_of(page)
    assert "who did not know the model called" not in page
    assert page.count("SIMULATED") >= 8
    assert client.get(f"{base}/report.json").json()["analysis"]["label"] == "SIMULATED"
    assert "SIMULATED" in client.get(f"{base}/report/figures/fraction.svg").text
    assert "SIMULATED" in client.get(f"{base}/report/items").text
    assert "SIMULATED" in client.get(f"{base}/report.html").text


def test_a_program_never_enters_a_human_figure(session: Session) -> None:
    rated = rated_study(session)
    before = make_report(session, rated.study)
    for number, kind in ((3, RaterKind.SIMULATED), (4, RaterKind.MACHINE)):
        other = make_rater(session, rated.study, number, kind)
        sitting = make_sitting(session, other)
        for position, item in enumerate(rated.items, start=1):
            make_rating(session, make_assignment(session, item, other, position), sitting, "I")
    after = make_report(session, rated.study)
    assert before.found is not None
    assert after.found is not None
    assert after.found.analysis == before.found.analysis
    assert (after.flow.other_kinds, after.flow.rated) == (2, 2)


def test_only_programs_in_a_human_study_is_nothing_to_report(client: TestClient, session: Session) -> None:
    rated = rated_study(session, kind=RaterKind.MACHINE)
    sign_in(client, session)
    page = client.get(f"/studies/{rated.study.code}/report")
    assert page.status_code == 200
    assert "No verdict of a human rater on a neuron stands" in text_of(page.text)
    assert client.get(f"/studies/{rated.study.code}/report.json").json()["analysis"] is None


def test_a_study_without_verdicts_has_a_report(client: TestClient, session: Session) -> None:
    study = rated_study(session, [[], []]).study
    sign_in(client, session)
    assert "nothing to estimate" in client.get(f"/studies/{study.code}/report").text
    assert client.get(f"/studies/{study.code}/report.html").status_code == 200
    assert client.get(f"/studies/{study.code}/report/figures/fraction.png").status_code == 404
    assert client.get(f"/studies/{study.code}/exports").status_code == 200


def test_withdrawn_edited_and_control_verdicts(session: Session) -> None:
    rated = rated_study(session, [["I"], ["I"]], raters=1)
    who, sitting, arm = rated.raters[0], rated.sittings[0], rated.arms[1]
    withdrawn, edited, again, control, repeat = (
        make_item(session, rated.study, arm, 5), make_item(session, rated.study, arm, 6),
        make_item(session, rated.study, arm, 7), make_item(session, rated.study, arm, 8, kind=ItemKind.MIXED),
        make_item(session, rated.study, arm, 0, kind=ItemKind.REPEAT, repeat_of=rated.items[1]),
    )  # fmt: skip
    sequences = ((withdrawn, "NW"), (edited, "NI"), (again, "NWI"), (control, "I"), (repeat, "N"))
    for position, (item, letters) in enumerate(sequences, start=10):
        assignment = make_assignment(session, item, who, position)
        for version, letter in enumerate(letters, start=1):
            make_rating(session, assignment, sitting, letter, version)
    table = verdicts(session, rated.study).set_index("position")
    assert list(table.loc[10:, "verdict"]) == ["INTERPRETABLE", "INTERPRETABLE", "INTERPRETABLE", "NOT_INTERPRETABLE"]
    assert list(table.loc[10:, "first_verdict"])[:2] == ["NOT_INTERPRETABLE"] * 2
    assert table.loc[14, "neuron"] == table.loc[2, "neuron"]
    report = make_report(session, rated.study)
    assert [arm.verdicts for arm in report.arms] == [1, 3]
    assert (report.flow.verdicts_on_controls, report.flow.verdicts_on_repeats) == (1, 1)
    assert (report.flow.shown, report.flow.controls, report.flow.repeats) == (5, 1, 1)


def test_agreement_without_overlap_is_undefined_with_its_reason(client: TestClient, session: Session) -> None:
    rated = rated_study(session, ["INNC", "IIIN"])
    sign_in(client, session)
    text = text_of(client.get(f"/studies/{rated.study.code}/report").text)
    assert "Agreement is undefined. No neuron has two verdicts" in text


def test_several_sizes_are_averaged_and_named(client: TestClient, session: Session) -> None:
    rated = rated_study(session, ["NNNI", "IIIN", "NNII", "IIII"], conditions=("gelu", "solu_ln", "gelu", "solu_ln"))
    for arm, size in zip(rated.arms, (800_000, 800_000, 3_100_000, 3_100_000), strict=True):
        arm.size = size
    session.flush()
    sign_in(client, session)
    text = text_of(client.get(f"/studies/{rated.study.code}/report").text).replace("\xa0", " ")
    assert "87.5 % of SoLU + LN neurons and 37.5 % of GELU neurons interpretable, averaged over 2 sizes" in text
    assert "a difference of 50.0 points" in text


def test_report_json_is_plain_json(client: TestClient, session: Session, rated: Rated) -> None:
    sign_in(client, session)
    content = client.get(f"/studies/{rated.study.code}/report.json").content
    told = json.loads(content, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert told["study"]["code"] == rated.study.code
