"""Planning a study: the power page and `glance power`."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.cli import main
from app.errors import Invalid
from app.reports import planning
from app.reports.planning import Question, detectable, needed, points, simulated, studies_of
from tests.studies import sign_in

SMALL = {"neurons": "12", "raters": "2"}


def rows(page: str) -> list[list[str]]:
    """The cells of the table of simulated studies."""
    table = page[page.index('id="simulated"') :].partition("</tbody>")[0]
    return [re.findall(r"<t[dh][^>]*>([^<]*)", row) for row in table.split("<tr>")[2:]]


def test_the_papers_effect_needs_62_neurons(htmx: TestClient, session: Session) -> None:
    """The published figures: 62 and 82 neurons an arm for 35 % against 60 %."""
    sign_in(htmx, session)
    page = htmx.get("/power")
    assert page.status_code == 200
    assert '<th scope="row">1</th><td class="num">62</td><td class="num">82</td>' in page.text
    assert "detects a difference of 25.3 percentage points" in page.text
    assert 'id="simulated"' not in page.text


def test_a_simulation_comes_row_by_row_with_its_figure(client: TestClient, session: Session) -> None:
    sign_in(client, session)
    asked = SMALL | {"simulate": "true"}
    with client.stream("GET", "/power", params=asked) as answer:
        assert "content-length" not in answer.headers, "it is sent while it is computed"
        page = "".join(answer.iter_text())
    assert [row[0] for row in rows(page)] == ["6", "9", "12", "18", "24"]
    assert page.count("<svg") == 2
    assert page.rstrip().endswith("</html>")


def test_the_same_seed_gives_the_same_simulation() -> None:
    question = Question(neurons=8, raters=2, studies=25)
    found = list(simulated(question))
    assert found == list(simulated(question))
    assert found != list(simulated(Question(neurons=8, raters=2, studies=25, seed=2)))
    assert found[-1] == list(simulated(Question(neurons=16, raters=2, studies=25)))[2], "a point stands alone"


def test_what_is_simulated_is_bounded() -> None:
    large = Question(neurons=2000, sizes=12, studies=10**5)
    assert studies_of(large, points(large)[-1]) == planning.FEWEST_STUDIES
    assert [design.neurons for design in points(Question(neurons=2))] == [2, 3, 4]
    assert studies_of(Question(), Question().design) == 100
    assert studies_of(Question(studies=40), Question().design) == 40


def test_more_raters_of_one_neuron_bring_less_than_more_neurons() -> None:
    one, two, three = needed(Question())
    assert one[0].neurons < 2 * two[0].neurons < 3 * three[0].neurons
    assert detectable(Question(neurons=120))[0][1] < detectable(Question(neurons=60))[0][1]  # type: ignore[operator]
    assert detectable(Question(baseline=0.95, other=0.5, neurons=5))[0] == (0.8, None)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"baseline": "60"}, "Two different fractions are needed"),
        ({"verdicts": "5"}, "A neuron cannot have 5 verdicts of different raters: there are 3."),
        ({"neurons": "1"}, "neurons"),
        ({"raters": "many"}, "raters"),
        ({"rater_sd": "nan"}, "rater_sd"),
        ({"seed": "99999999999999999999"}, "seed"),
    ],
)
def test_what_has_no_answer_is_said(htmx: TestClient, session: Session, asked: dict[str, str], said: str) -> None:
    sign_in(htmx, session)
    answer = htmx.get("/power", params=asked)
    assert answer.status_code == 422
    assert said in answer.text


WRONG = [
    {"baseline": 0.0}, {"other": 1.5}, {"neurons": 1}, {"sizes": 0}, {"rater_sd": -1.0}, {"rater_sd": float("nan")},
    {"neurons": 10**9}, {"raters": 10**6}, {"sizes": 51}, {"neuron_sd": 1e9}, {"studies": 10**9}, {"seed": 2**64},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_question_without_an_answer_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(Invalid):
        Question(**wrong)  # type: ignore[arg-type]


def test_only_administrators_plan(htmx: TestClient) -> None:
    assert htmx.get("/power").status_code == 401


def test_power_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure = tmp_path / "power.svg"
    asked = ("--neurons", "12", "--raters", "2", "--studies", "5", "--figure", str(figure))
    assert main(["power", *asked]) == 0
    said = capsys.readouterr().out
    assert "detects a difference of" in said
    assert "verdicts a neuron 1: 62 for 80%, 82 for 90%" in said
    assert len(re.findall(r"^ +\d+ +5  ", said, re.MULTILINE)) == 5
    assert figure.read_text().startswith("<svg")
    assert main(["power", "--studies", "0"]) == 0
    assert "Share of simulated" not in capsys.readouterr().out
    assert main(["power", "--neurons", "30000"]) == 2
    assert "neurons can be at most 20000; it is 30000." in capsys.readouterr().err
    assert main(["power", "--baseline", "35"]) == 2
    assert "must lie between 0 and 1; it is 35.0" in capsys.readouterr().err
