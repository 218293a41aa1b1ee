"""The two small runs lie where the server looks for runs."""

from shutil import copytree

import pytest

from app.settings import Settings
from tests.studies import two_runs


@pytest.fixture(autouse=True)
def _with_runs(settings: Settings) -> None:
    for run in two_runs():
        copytree(run, settings.runs_dir / run.name)
