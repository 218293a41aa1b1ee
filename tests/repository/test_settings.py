"""The table of settings is whole and true."""

import json
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(GLANCE_[A-Z_]+)` \| (?:`(.*)`)? ?\| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"GLANCE_[A-Z][A-Z_]*[A-Z]")
OF_TESTS = {"GLANCE_TEST_DATABASES"}


def said(value: object) -> str:
    """As somebody would write it into the environment."""
    return str(value) if isinstance(value, str | Path) else json.dumps(value)


def test_every_setting_is_in_the_table_with_what_it_is_unless_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"GLANCE_{name.upper()}", raising=False)
    usual = Settings(_env_file=None)
    table = {name: default for name, default, _ in ROW.findall(PAGE)}
    assert table == {f"GLANCE_{name.upper()}": said(getattr(usual, name)) for name in Settings.model_fields}


def test_every_name_that_anything_here_reads_is_explained() -> None:
    files = [*(ROOT / "app").rglob("*.py"), *ROOT.glob("docs/*.md")]
    files += [ROOT / name for name in ("README.md", "docker-compose.yml", "Dockerfile")]
    named = {name for path in files for name in NAMED.findall(path.read_text(encoding="utf-8"))}
    assert named - OF_TESTS <= set(NAMED.findall(PAGE))


@pytest.mark.parametrize(
    "wrong",
    [
        {"lease_minutes": 0},
        {"lease_minutes": 10**12},
        {"idle_minutes": -30},
        {"hsts_seconds": -1},
        {"report_patience_seconds": float("nan")},
    ],
)
def test_times_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        Settings(_env_file=None, **wrong)
