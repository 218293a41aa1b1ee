"""`glance serve` and the database, the port and the settings it needs."""

import socket
from pathlib import Path

import pytest
from sqlalchemy import make_url

from app.cli import main
from app.commands import terminal
from app.settings import Settings
from app.web.connection import Connection
from app.web.listening import insist_on_port
from tests.app.commands.typed import glance
from tests.app.served import free_port


def test_a_database_of_another_time_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/none.db", key_file=tmp_path / "key", _env_file=None)
    monkeypatch.setattr(terminal, "get_settings", lambda: settings)
    assert glance(monkeypatch, "serve") == 2
    assert "Run: glance migrate" in capsys.readouterr().err


def test_where_the_database_and_the_key_lie_is_said_at_the_start(
    at_home: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Either may lie on a disk that goes away with a container."""
    served: list[tuple[str, str]] = []
    monkeypatch.setattr("uvicorn.run", lambda app, **options: served.append((app, options["http"])))
    assert glance(monkeypatch, "migrate") == 0
    capsys.readouterr()
    assert glance(monkeypatch, "serve", "--port", str(free_port())) == 0
    database = make_url(at_home.database_url).render_as_string()  # its password is nobody's business
    said = capsys.readouterr().out
    assert f"Database {database}, key file {at_home.key_file.resolve()}." in said
    assert "Add the first one: glance administrator add NAME" in said
    assert served == [("app.main:app", f"{Connection.__module__}:{Connection.__name__}")]


def test_settings_and_databases_that_cannot_be_are_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "get_settings", lambda: Settings(_env_file=None))
    monkeypatch.setenv("GLANCE_LEASE_MINUTES", "soon")
    assert glance(monkeypatch, "study", "list") == 2
    assert "GLANCE_LEASE_MINUTES was not understood" in capsys.readouterr().err
    monkeypatch.delenv("GLANCE_LEASE_MINUTES")
    monkeypatch.setenv("GLANCE_METRICS_TOKEN", "short")
    assert glance(monkeypatch, "study", "list") == 2
    assert "GLANCE_METRICS_TOKEN was not understood: it must be empty or at least 16" in capsys.readouterr().err
    monkeypatch.delenv("GLANCE_METRICS_TOKEN")
    monkeypatch.setenv("GLANCE_DATABASE_URL", "postgresql+psycopg://nobody@127.0.0.1:1/none")
    assert glance(monkeypatch, "study", "list") == 2
    assert "The database cannot be used" in capsys.readouterr().err


@pytest.mark.usefixtures("at_home")
def test_a_port_that_is_taken_is_said_before_anything_is_served(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert glance(monkeypatch, "serve", "--port", port) == 2
    said = capsys.readouterr()
    assert f"port {port} of 127.0.0.1: Address already in use. Stop what listens there" in said.err
    assert "Serving on" not in said.out


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize("host", ["192.0.2.1", "no..name"])
def test_a_host_of_another_machine_is_said_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    assert glance(monkeypatch, "serve", "--host", host) == 2
    said = capsys.readouterr()
    assert host in said.err
    assert "--host" in said.err
    assert "Serving on" not in said.out


def test_a_free_port_is_left_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    insist_on_port("127.0.0.1", port)
    with socket.create_server(("127.0.0.1", port)) as taken:
        assert taken.getsockname()[1] == port


@pytest.mark.parametrize("url", ["nonsense", "sqlite:////proc/none/x.db"])
def test_a_database_that_cannot_be_made_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    monkeypatch.setenv("GLANCE_DATABASE_URL", url)
    monkeypatch.setattr(terminal, "get_settings", lambda: Settings(_env_file=None))
    assert glance(monkeypatch, "migrate") == 2
    assert "GLANCE_DATABASE_URL" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["0", "99999", "1,000"])
def test_a_port_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str], port: str) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--port", port])
    assert "from 1 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["/glance", "glance", "/glance/", "glance/"])
def test_a_prefix_means_the_same_however_its_slashes_are_typed(typed: str) -> None:
    assert Settings(root_path=typed, _env_file=None).root_path == "/glance"
    assert Settings(root_path="/", _env_file=None).root_path == ""
