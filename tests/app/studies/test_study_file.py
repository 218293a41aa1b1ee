"""study.toml: what is written is read again, and what is wrong in it is said."""

import tomllib
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import Invalid
from app.reports.statistics.plan import Plan
from app.studies.asked import PAPER, PLANNED, TEMPLATES, Asked
from app.studies.design import Design
from app.studies.study_file import GROUPS, PLAN, read, write

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=60)


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    design = Design(
        neurons_per_arm=draw(st.integers(30, 80)),
        seats=draw(st.integers(3, 9)),
        snippet_choice=draw(st.sampled_from(["top", "spectrum"])),
        practice_items=draw(st.integers(0, 9)),
        unblinders=draw(st.integers(1, 2)),
        instructions=draw(TEXT),
    )
    plan = Plan(
        baseline=draw(TEXT),
        question=draw(TEXT),
        cannot_decide=draw(st.sampled_from(["no", "yes", "left_out"])),
        late_counts=draw(st.booleans()),
        fewest_verdicts=draw(st.integers(0, 50)),
        most_false_positives=draw(st.floats(0, 1)),
        least_seconds=draw(st.floats(0, 1000)),
        alpha=draw(st.floats(0.001, 0.2)),
    )
    runs = tuple(draw(st.lists(TEXT, max_size=3)))
    return Asked(name=draw(TEXT), pilot=draw(st.booleans()), runs=runs, design=design, plan=plan)


@given(asked())
def test_what_is_written_is_read_again(study: Asked) -> None:
    text = write(study)
    assert read(text) == study
    assert write(read(text)) == text


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_are_read_as_they_are(name: str) -> None:
    assert read(write(TEMPLATES[name])) == TEMPLATES[name]


def test_the_papers_protocol_is_660_neurons() -> None:
    assert PAPER.design.neurons_per_arm * len(PAPER.runs) == PAPER.design.verdicts(len(PAPER.runs)) == 660


def test_every_field_is_written_and_explained() -> None:
    names = [field.name for field in fields(Design)]
    assert sorted(name for group in GROUPS.values() for name in group) == sorted(names)
    lines = write(PAPER).split("\n")
    assert set(PLAN) == set(PLANNED)
    for name in ("format", "name", "pilot", "runs", *names, *PLAN):
        at = next(number for number, line in enumerate(lines) if line.startswith(f"{name} ="))
        assert lines[at - 1].startswith("# "), name
    assert set(tomllib.loads(write(PAPER))["design"]) == set(names)
    assert set(tomllib.loads(write(PAPER))["plan"]) == set(PLAN)


def test_whole_numbers_do_for_a_plans_numbers() -> None:
    plan = read("[plan]\nleast_seconds = 3\nmost_false_positives = 1").plan
    assert (plan.least_seconds, type(plan.least_seconds)) == (3.0, float)


def test_a_field_that_is_left_out_has_its_usual_value() -> None:
    assert read('name = "Short"\nruns = ["a", "b"]\n[design]\nseats = 4') == Asked(
        name="Short", runs=("a", "b"), design=Design(seats=4)
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[design]\nneurons = 60", r"no field design.neurons \(it is 60 there\). Did you mean neurons_per_arm\?"),
        ("[design]\nzzz = 1", r"no field design.zzz \(it is 1 there\). Remove it; known are neurons_per_arm"),
        ("colour = 'red'", "no field colour .it is 'red' there.. Remove it; known are format, name"),
        ("[design]\nseats = 'three'", "design.seats is 'three'. It must be a whole number, as in seats = 3"),
        ("[design]\nseats = true", "design.seats is True. It must be a whole number"),
        ("[design]\nseats = 2.0", r"design.seats is 2.0. It must be a whole number"),
        ("[design]\nsnippet_choice = 3", 'It must be a text in quotes, as in snippet_choice = "top"'),
        ("pilot = 'yes'", "pilot is 'yes'. It must be true or false, as in pilot = false"),
        ("[design]\nseats = 0", "does not hold together: Raters must be at least 1; it is 0"),
        ("[design]\nunblinders = 9", "Persons it takes to unblind can be at most 2; it is 9"),
        ("runs = 'gelu'", r"runs is 'gelu'. It must be a list of folders"),
        ("format = 2", "format is 2, and this program reads format 1"),
        ("design = 3", "design is 3. Make it a table"),
        ("plan = 3", r"plan is 3. Make it a table: a line \[plan\]"),
        ("[plan]\nalfa = 0.1", "no field plan.alfa .* Did you mean alpha"),
        ("[plan]\nlooks = 2", "no field plan.looks"),
        ("[plan]\nalpha = 'low'", "plan.alpha is 'low'. It must be a number, as in alpha = 0.05"),
        ("[plan]\nalpha = true", "plan.alpha is True. It must be a number"),
        ("[plan]\nalpha = 2", "plan does not hold together: The level alpha must lie between 0 and 1; it is 2.0"),
        ("[plan]\nresamples = 5.0", "plan.resamples is 5.0. It must be a whole number"),
        ("name = ", "study.toml is not a TOML file: Invalid value .*`glance study template`"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(text: str, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        read(text)
