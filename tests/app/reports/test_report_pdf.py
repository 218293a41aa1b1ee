"""The PDF: set from the page's own HTML, and nothing a person wrote is an instruction to the typesetter."""

import re

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from app.models import RaterKind, StudyState
from app.reports import pdf as pdf_module
from app.reports.html_tree import parse
from app.reports.pdf import pdf
from app.reports.report import make_report
from app.reports.typeset import string, typeset
from tests.app.rated import rated_study
from tests.studies import sign_in

NASTY = '#read("/etc/passwd") $x$ \\ " ] } `raw` <b>bold</b> Ünïcödé 研究 🙂'


def words_of(tree: str) -> str:
    """The strings of a Typst expression, in order."""
    return "".join(re.sub(r"\\(.)", r"\1", text) for text in re.findall(r'"((?:[^"\\]|\\.)*)"', tree))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_one_string(text: str) -> None:
    literal = string(text)
    assert re.fullmatch(r'"(?:[^"\\]|\\.)*"', literal, re.DOTALL)
    assert words_of(literal) == "".join(c for c in text if c.isprintable() or c in "\u00a0\u202f")


def test_lists_stay_lists_and_small_headings_headings() -> None:
    tree = typeset(parse('<h3 id="guesses">Guesses</h3><ul class="dots"><li>one<li>two</ul>'))
    assert 'subheading({"Guesses"})' in tree
    assert 'list({"one"}, {"two"})' in tree


def test_left_out_end_tags_are_understood() -> None:
    tree = parse("<table><thead><tr><th>a<th>b</thead><tbody><tr><td>1<td>2<tr><td>3<td>4</table><p>after</p>")
    table, after = tree.children
    assert [[len(row.all("td", "th")) for row in table.all("tr")]] == [[2, 2, 2]]
    assert [part.name for part in table.children] == ["thead", "tbody"]
    assert after.name == "p"
    lists = parse("<ol><li>one<small>x</small><li>two</ol><dl><dt>k<dd>v<dt>l<dd>w</dl>")
    assert [child.name for child in lists.children[0].children] == ["li", "li"]
    assert [child.name for child in lists.children[1].children] == ["dt", "dd", "dt", "dd"]


def test_inline_words_keep_their_spaces() -> None:
    assert words_of(typeset(parse("<p>Raters called <b>57 %</b> of\n them <i>so</i>.</p>"))) == (
        "Raters called 57 % of them so."
    )


def test_the_pdf_is_made_the_same_each_time(session: Session) -> None:
    rated = rated_study(session, [["II", "N", "C"], ["IN", "I", "I"]])
    report = make_report(session, rated.study)
    first, second = pdf(report), pdf(report)
    assert first.startswith(b"%PDF-")
    assert first == second


def test_what_people_wrote_cannot_instruct(session: Session) -> None:
    rated = rated_study(
        session,
        kind=RaterKind.SIMULATED,
        name=NASTY[:90],
        sources=[{"name": NASTY, "licence": NASTY, "parts": [NASTY]}],
    )
    rated.study.unblinding_reason = NASTY
    assert pdf(make_report(session, rated.study)).startswith(b"%PDF-")


def test_a_report_without_verdicts_has_a_pdf(session: Session) -> None:
    rated = rated_study(session, [[], []])
    assert pdf(make_report(session, rated.study)).startswith(b"%PDF-")


def test_it_is_downloaded_after_unblinding_alone(client: TestClient, session: Session) -> None:
    sealed = rated_study(session, state=StudyState.CLOSED, name="closed")
    opened = rated_study(session, name="Ünïcödé")
    sign_in(client, session)
    assert client.get(f"/studies/{sealed.study.code}/report.pdf").status_code == 403
    response = client.get(f"/studies/{opened.study.code}/report.pdf")
    assert response.headers["content-type"] == "application/pdf"
    assert "%C3%9Cn" in response.headers["content-disposition"]


def test_without_typst_a_sentence_says_how_to_get_it(
    client: TestClient, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_module, "can_make_pdf", lambda: False)
    rated = rated_study(session)
    sign_in(client, session)
    response = client.get(f"/studies/{rated.study.code}/report.pdf")
    assert response.status_code == 409
    assert "pip install" in response.text
