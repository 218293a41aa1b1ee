"""The settings of the `glance` command are the test's own."""

from pathlib import Path

import pytest

from app.commands import terminal
from app.settings import Settings


@pytest.fixture
def at_home(own_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The command's settings are this test's."""
    settings = Settings(database_url=own_database_url, key_file=tmp_path / "key", _env_file=None)
    monkeypatch.setattr(terminal, "get_settings", lambda: settings)
    return settings
