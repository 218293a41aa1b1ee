"""study.toml: what is written is read again, and what is wrong in it is said."""

import tomllib
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import Invalid
from app.studies.asked import PAPER, TEMPLATES, Asked
from app.studies.design import Design
from app.studies.study_file import GROUPS, read, write

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
    return Asked(
        name=draw(TEXT), pilot=draw(st.booleans()), runs=tuple(draw(st.lists(TEXT, max_size=3))), design=design
    )


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
    for name in ("format", "name", "pilot", "runs", *names):
        at = next(number for number, line in enumerate(lines) if line.startswith(f"{name} ="))
        assert lines[at - 1].startswith("# "), name
    assert set(tomllib.loads(write(PAPER))["design"]) == set(names)


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
        ("name = ", "study.toml is not a TOML file: Invalid value .*`glance study template`"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(text: str, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        read(text)
