"""A design on the command line: options, a file, templates, and the file of a study that there is."""

from pathlib import Path

import pytest
from sqlalchemy import select

from app.cli import main
from app.commands import terminal
from app.models import Study
from app.settings import Settings
from app.store.db import open_engine, transaction
from app.studies.asked import TEMPLATES, Asked
from app.studies.design import Design
from app.studies.study_file import read, write
from tests.studies import two_runs

SMALL = Design(neurons_per_arm=4, seats=2, overlap=1, instructions="Read every line.\nTwice.")


@pytest.fixture
def at_home(own_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The command's settings are this test's."""
    runs = two_runs()[0].parent
    settings = Settings(database_url=own_database_url, key_file=tmp_path / "key", runs_dir=runs, _env_file=None)
    monkeypatch.setattr(terminal, "get_settings", lambda: settings)
    return settings


def studies(settings: Settings) -> list[Study]:
    engine = open_engine(settings.database_url)
    with transaction(engine) as session:
        found = list(session.scalars(select(Study).order_by(Study.id)))
    engine.dispose()
    return found


def test_a_study_made_from_its_file_has_that_file(
    at_home: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "study.toml"
    file.write_text(write(Asked(name="Winter", pilot=True, runs=("gelu", "solu_ln"), design=SMALL)))
    assert main(["study", "create", "--file", str(file)]) == 0
    capsys.readouterr()
    assert main(["study", "file", "Winter"]) == 0
    again = capsys.readouterr().out
    assert read(again) == Asked(name="Winter", pilot=True, runs=tuple(map(str, two_runs())), design=SMALL)
    (study,) = studies(at_home)
    assert (study.pilot, Design.of(study.design)) == (True, SMALL)


def test_options_win_over_the_file(at_home: Settings, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(write(Asked(name="Winter", runs=("gelu", "solu_ln"), design=SMALL)))
    assert main(["study", "create", "--file", str(file), "--name", "Spring", "--raters", "3", "--neurons", "5"]) == 0
    (study,) = studies(at_home)
    assert (study.name, study.design["seats"], study.design["neurons_per_arm"]) == ("Spring", 3, 5)
    assert study.design["instructions"] == SMALL.instructions


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[design]\nneurons = 3", "there is no field design.neurons (it is 3 there). Did you mean neurons_per_arm?"),
        ('name = "Winter"', "Which runs? Give --run twice or more"),
        ('name = "Winter"\nruns = ["nowhere", "gelu"]', "There is no folder nowhere"),
    ],
)
def test_a_file_that_makes_no_study_is_a_sentence(
    at_home: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    file = tmp_path / "study.toml"
    file.write_text(text)
    assert main(["study", "create", "--file", str(file)]) == 2
    assert said in capsys.readouterr().err
    assert main(["study", "create", "--file", str(tmp_path / "missing.toml")]) == 2
    assert "missing.toml cannot be read" in capsys.readouterr().err
    assert studies(at_home) == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_are_printed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "template", name]) == 0
    assert read(capsys.readouterr().out) == TEMPLATES[name]
