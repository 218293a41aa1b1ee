"""Figures: well-formed, accessible, in the page's colours inline and in fixed ones as files."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.reports import figures
from app.reports.figures import Figure
from app.reports.figures.series import apart
from app.reports.names import percent, points, size_name
from app.reports.speech import in_language
from app.reports.statistics.analysis import Analysis, analyse
from app.reports.statistics.blinding import Blinding, blinding
from app.reports.statistics.plan import Plan
from app.reports.statistics.power import summary
from app.reports.statistics.simulate import Design, Truth
from app.reports.statistics.trial import Outcome
from app.words.language import language
from tests.app.statistics.studies import study


def analysis(sizes: tuple[int, ...], simulated: bool = False) -> Analysis:
    table = study(sizes=sizes, neurons=20)
    table = table.assign(rater_kind="simulated" if simulated else "human", seconds=40.0 + 7 * (table.index % 9))
    return analyse(table, Plan(baseline="gelu", resamples=200, simulated=simulated), seed=1)


def drawings(stamp: str = "") -> list[Figure]:
    one, several = analysis((1000,), "SIMULATED" in stamp), analysis((1000, 8000), "SIMULATED" in stamp)
    return [
        figures.fraction_figure(one.arms, "gelu", stamp),
        figures.fraction_figure(several.arms, "gelu", stamp),
        figures.forest_figure(several.differences, stamp),
        figures.strictness_figure(one.strictness, "gelu", {0: "Rater <A>"}, stamp),
        figures.times_figure(one.times, "gelu", stamp),
        figures.blinding_figure(guessed(), "gelu", stamp),
    ]


def guessed() -> Blinding:
    rows = [
        (rater, truth, guess) for rater in range(6) for truth in ("gelu", "solu_ln") for guess in (truth, "UNKNOWN")
    ]
    guesses = pd.DataFrame(rows, columns=["rater", "condition", "guess"])
    return blinding(guesses, ["gelu", "solu_ln"], 0.95, 200, np.random.default_rng(1))


def parts(drawing: Figure) -> list[ElementTree.Element]:
    """Both drawings of a figure as the page holds them, parsed."""
    markup = figures.inline(drawing).replace("<svg ", '<svg xmlns:xlink="http://www.w3.org/1999/xlink" ')
    return list(ElementTree.fromstring(f"<div>{markup}</div>").iter("svg"))  # noqa: S314 - our own drawing


@pytest.mark.parametrize(("clock", "words"), [((60, 120), ("1 min", "2 min")), ((90, 300), ("90 s", "5 min"))])
def test_the_dashed_lines_are_the_clock_of_the_design(clock: tuple[int, int], words: tuple[str, str]) -> None:
    markup = figures.inline(figures.times_figure(analysis((1000,)).times, "gelu", clock=clock))
    texts = {text.removeprefix(">").removesuffix("<") for text in re.findall(r">[^<>]+<", markup)}
    assert {word for word in texts if re.fullmatch(r"\d+ (min|s)", word)} == set(words)


def test_very_many_raters_are_drawn_together_and_nobody_by_name() -> None:
    table = study(neurons=300, raters=200, each=4)
    found = analyse(table, Plan(baseline="gelu", resamples=100), seed=1)
    drawing = figures.strictness_figure(found.strictness, "gelu", {0: "Rater <A>"})
    assert len(found.strictness) > 150
    assert drawing.wide["height"] < 200
    assert "Rater" not in drawing.label
    row = drawing.wide["datasets"][drawing.wide["data"]["name"]][0]
    gelu = [
        part.fraction.value or 0.0
        for one in found.strictness
        for part in one.by_condition
        if part.condition == "gelu" and part.fraction.n
    ]
    assert row["median"] == pytest.approx(np.median(gelu))
    assert f"{len(found.strictness)} raters" in drawing.label
    assert len(parts(drawing)) == 2


@pytest.mark.parametrize("index", range(6))
def test_inline_drawings(index: int) -> None:
    drawing = drawings()[index]
    wide, slim = parts(drawing)
    assert wide.get("viewBox", "").startswith("0 0 640 ")
    assert slim.get("viewBox", "").startswith("0 0 340 ")
    for svg in (wide, slim):
        assert svg.get("role") == "img"
        assert svg.get("aria-label") == drawing.label
        assert "SIMULATED" not in "".join(svg.itertext())
    text = figures.inline(drawing)
    assert "style=" not in text  # the page's policy forbids it
    assert "var(--ink)" in text
    ids = re.findall(r'id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("stamp", ["SIMULATED", "PILOT", "SIMULATED, PILOT"])
def test_a_stamp_is_inside_the_figure(stamp: str) -> None:
    for drawing in drawings(stamp):
        assert drawing.label.startswith(f"{stamp}.")
        for svg in parts(drawing):
            assert stamp in "".join(svg.itertext())
        assert stamp in figures.svg(drawing)


def powers() -> Figure:
    found = [
        summary(Design(neurons=neurons, raters=raters), Truth(), [Outcome((0.1, 0.4), (-0.1, 0.6), 0.01)] * 4)
        for raters in (3, 6)
        for neurons in (20, 40)
    ]
    return figures.power_figure(found)


def test_in_chinese_nothing_in_a_figure_stays_english() -> None:
    """Names of conditions aside, and what the test itself calls a rater."""
    with in_language(language("zh-Hans")):
        drawn = [*drawings(), powers()]
    for drawing in drawn:
        said = " ".join([drawing.label, *(text for svg in parts(drawing) for text in svg.itertext())])
        assert set(re.findall("[A-Za-z]{2,}", said)) <= {"GELU", "SoLU", "LN", "Rater", "Bang"}, drawing.name


def test_conditions_differ_in_shape_and_are_named_on_the_marks() -> None:
    drawing = figures.fraction_figure(analysis((1000, 8000)).arms, "gelu")
    text = "".join(parts(drawing)[0].itertext())
    assert "GELU" in text
    assert "SoLU + LN" in text
    assert '"square", "circle"' in str(drawing.wide).replace("'", '"')


def test_power_is_drawn_and_said() -> None:
    drawing = powers()
    assert "40, 6 raters, 1 verdict: 100" in drawing.label
    assert "3 raters, 1 verdict" in "".join(parts(drawing)[1].itertext())


def test_files_have_fixed_colours() -> None:
    drawing = drawings()[0]
    assert "var(" not in figures.svg(drawing)
    assert "var(" not in str(figures.vega_lite(drawing))
    assert figures.png(drawing, scale=1).startswith(b"\x89PNG")


def test_numbers_are_in_the_label() -> None:
    found = analysis((1000,))
    drawing = figures.fraction_figure(found.arms, "gelu")
    assert f"GELU: {percent(found.arms[0].fraction.value or 0)}" in drawing.label


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_labels_are_moved_apart_in_order(places: list[float]) -> None:
    moved = apart(places, 0.06)
    ordered = [moved[index] for index in sorted(range(len(places)), key=lambda index: places[index])]
    assert all(after - before >= 0.06 - 1e-9 for before, after in pairwise(ordered))


def test_names() -> None:
    assert [size_name(n) for n in (950, 812_345, 3_100_000, 13_000_000, 999_900, 1_300_000_000)] == [
        "950",
        "812\u00a0k",
        "3.1\u00a0M",
        "13\u00a0M",
        "1\u00a0M",
        "1.3\u00a0B",
    ]
    assert [points(x) for x in (0.224, -0.04, 0.001)] == ["+22", "\u22124", "0"]
