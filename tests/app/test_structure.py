"""Habits of the house that a linter does not see."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.check import check_templates

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted((ROOT / "app").rglob("*.py"))


def calls(path: Path, *names: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node.lineno


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_one_module_ends_a_transaction(path: Path) -> None:
    assert list(calls(path, "commit", "rollback", "create_all")) == []


def test_one_transaction_begins_in_one_place() -> None:
    beginners = [path.name for path in SOURCES if list(calls(path, "begin"))]
    assert beginners == ["db.py"]


def test_every_template_compiles() -> None:
    assert check_templates() > 10


HEAVY = ("torch", "tokenizers", "pandas", "scipy", "statsmodels", "altair", "vl_convert", "pyarrow", "matplotlib")

SERVE = """
import sys, tempfile
from pathlib import Path
from fastapi.testclient import TestClient
from app.store.db import open_engine, transaction
from app.main import create_app
from app.store.migrate import upgrade
from app.raters.actions import invite
from app.settings import Settings
from tests.studies import make_study

with tempfile.TemporaryDirectory() as folder:
    url = f"sqlite:///{folder}/glance.db"
    settings = Settings(database_url=url, key_file=Path(folder) / "key", _env_file=None)
    upgrade(url)
    engine = open_engine(url)
    with transaction(engine) as session:
        token = invite(session, make_study(session, settings), "Rater A", actor="Ada")
    with TestClient(create_app(settings)) as client:
        client.post(f"/join/{token}", data={"consent": "yes"})
        client.post("/rate/begin")
        page = client.get("/rate")
        assert page.status_code == 200 and "<mark" in page.text, page.text
        assert client.get("/help").status_code == 200
    engine.dispose()
print(*sorted(set(sys.argv[1:]) & {name.split(".")[0] for name in sys.modules}))
"""


def test_a_worker_that_serves_rating_pages_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SERVE, *HEAVY], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
