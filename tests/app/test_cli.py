"""The `glance` command, from an empty disk to a verified export."""

import io
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url, select
from sqlalchemy.orm import Session

from app import commands
from app.audit_log import record
from app.cli import main
from app.db import open_engine, transaction
from app.listening import insist_on_port
from app.models import Administrator, AuditEvent, Event, Study, StudyState
from app.models.base import new_code
from app.reports import exports
from app.settings import Settings
from app.undelayed import Undelayed
from tests.app.served import free_port
from tests.studies import PASSWORD, two_runs

SMALL = ("--neurons", "4", "--raters", "2", "--overlap", "1")


@pytest.fixture
def at_home(own_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The command's settings are this test's."""
    settings = Settings(database_url=own_database_url, key_file=tmp_path / "key", _env_file=None)
    monkeypatch.setattr(commands, "get_settings", lambda: settings)
    return settings


def glance(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path, typed: str = "") -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    return main([str(argument) for argument in arguments])


def create(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """A study of the two small runs; returns its code, the last line printed."""
    runs = [part for run in two_runs() for part in ("--run", run)]
    assert glance(monkeypatch, "study", "create", "--name", "Winter study", *runs, *SMALL, *more) == 0
    return capsys.readouterr().out.splitlines()[-1]


def test_from_nothing_to_a_verified_export(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert glance(monkeypatch, "migrate") == 0
    assert glance(monkeypatch, "administrator", "add", "Ada", "--password-stdin", typed=f"{PASSWORD}\n") == 0
    study = create(monkeypatch, capsys, "--simulated")
    assert glance(monkeypatch, "study", "list") == 0
    assert f"{study}  open       0 of 10 verdicts  Winter study" in capsys.readouterr().out
    assert glance(monkeypatch, "invite", "Winter study", "--name", "Rater A", "--days", "7") == 0
    assert capsys.readouterr().out.startswith("/join/")
    assert glance(monkeypatch, "invite", study, "--name", "Panel", "--reusable", "--most", "3") == 0
    assert glance(monkeypatch, "invite", study, "--name", "Panel 2", "--reusable", "--most", "0") == 2
    assert "from 1 on" in capsys.readouterr().err
    assert glance(monkeypatch, "close", study) == 0
    assert glance(monkeypatch, "reopen", study) == 0
    assert glance(monkeypatch, "close", study) == 0
    act = ("unblind", study, "--administrator", "Ada", "--reason", "all are in", "--password-stdin")
    assert glance(monkeypatch, *act, typed=f"{PASSWORD}\n") == 0
    assert glance(monkeypatch, "export", study, "--out", tmp_path / "export") == 0
    capsys.readouterr()
    assert glance(monkeypatch, "verify", tmp_path / "export") == 0
    assert "×" not in capsys.readouterr().out
    engine = open_engine(at_home.database_url)
    with transaction(engine) as session:
        found = session.scalars(select(Study)).one()
        assert (found.state, found.simulated, found.unblinded_by) == (StudyState.UNBLINDED, True, "Ada")
    engine.dispose()


def test_a_failure_is_a_sentence_and_exit_status_two(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*arguments: str | Path, typed: str = "") -> str:
        assert glance(monkeypatch, *arguments, typed=typed) == 2
        return capsys.readouterr().err

    assert "needs at least" in refused("administrator", "add", "Ada", "--password-stdin", typed="short\n")
    assert "no terminal" in refused("administrator", "add", "Ada")
    assert "no study with the code or the name “Winter”" in refused("close", "Winter")
    run = str(two_runs()[0])
    assert "compares two runs or more" in refused("study", "create", "--name", "Winter", "--run", run)
    assert "no seal.json" in refused("verify", tmp_path)
    assert "cannot be read as an export" in refused("verify", tmp_path / "nowhere.json")
    study = create(monkeypatch, capsys)
    act = ("unblind", study, "--administrator", "Ada", "--reason", "curiosity", "--password-stdin")
    assert "do not fit" in refused(*act, typed="guess\n")
    engine = open_engine(at_home.database_url)
    with transaction(engine) as session:
        events = select(Event.actor, Event.what).order_by(Event.line)
        assert [tuple(row) for row in session.execute(events)][-1] == ("Ada", "unblinding refused")
    engine.dispose()


def test_a_database_of_another_time_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/none.db", key_file=tmp_path / "key", _env_file=None)
    monkeypatch.setattr(commands, "get_settings", lambda: settings)
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
    assert f"Database {database}, key file {at_home.key_file.resolve()}." in capsys.readouterr().out
    assert served == [("app.main:app", f"{Undelayed.__module__}:{Undelayed.__name__}")]


def test_settings_and_databases_that_cannot_be_are_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "get_settings", lambda: Settings(_env_file=None))
    monkeypatch.setenv("GLANCE_LEASE_MINUTES", "soon")
    assert glance(monkeypatch, "study", "list") == 2
    assert "GLANCE_LEASE_MINUTES was not understood" in capsys.readouterr().err
    monkeypatch.delenv("GLANCE_LEASE_MINUTES")
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


def test_rights_are_given_on_the_command_line(at_home: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    more = ("--password-stdin", "--may-not-unblind")
    assert glance(monkeypatch, "administrator", "add", "Bob", *more, typed=f"{PASSWORD}\n") == 0
    engine = open_engine(at_home.database_url)
    with transaction(engine) as session:
        bob = session.scalars(select(Administrator)).one()
        assert (bob.may_manage, bob.may_rate, bob.may_unblind) == (True, True, False)
    engine.dispose()


@pytest.mark.usefixtures("at_home")
def test_administrators_are_looked_after_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, more in (("Ada", ()), ("Bob", ("--may-not-manage",))):
        assert glance(monkeypatch, "administrator", "add", name, "--password-stdin", *more, typed=f"{PASSWORD}\n") == 0
    capsys.readouterr()
    assert glance(monkeypatch, "administrator", "list") == 0
    assert capsys.readouterr().out.splitlines() == [
        "Ada  let in  manage, rate, unblind  last signed in: never",
        "Bob  let in  rate, unblind  last signed in: never",
    ]
    assert glance(monkeypatch, "administrator", "deactivate", "Ada") == 2
    assert "the only administrator with the role “manage”" in capsys.readouterr().err
    assert glance(monkeypatch, "administrator", "roles", "Bob", "manage") == 0
    assert glance(monkeypatch, "administrator", "deactivate", "Ada") == 0
    assert glance(monkeypatch, "administrator", "roles", "Bob", "none") == 2
    assert glance(monkeypatch, "administrator", "reactivate", "Ada") == 0
    assert glance(monkeypatch, "administrator", "roles", "Bob", "none") == 0
    assert glance(monkeypatch, "administrator", "roles", "Bob", "none", "rate") == 2
    capsys.readouterr()
    assert glance(monkeypatch, "administrator", "password", "Bob") == 0
    assert len(capsys.readouterr().out.splitlines()[-1]) == 16
    assert glance(monkeypatch, "administrator", "password", "Nobody") == 2
    assert "“Nobody”" in capsys.readouterr().err


def test_no_code_looks_like_an_option() -> None:
    assert not any(new_code().startswith("-") for _ in range(1000))


def test_help_is_quick_because_nothing_heavy_is_loaded() -> None:
    heavy = "{'pandas', 'fastapi', 'numpy', 'scipy', 'uvicorn', 'argon2'}"
    code = f"import sys, app.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("['fastapi']", "[]")


# ---- an export that was tampered with -----------------------------------------------------------


@pytest.fixture
def exported(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    glance(monkeypatch, "administrator", "add", "Ada", "--password-stdin", typed=f"{PASSWORD}\n")
    study = create(monkeypatch, capsys)
    glance(monkeypatch, "close", study)
    act = ("unblind", study, "--administrator", "Ada", "--reason", "all are in", "--password-stdin")
    assert glance(monkeypatch, *act, typed=f"{PASSWORD}\n") == 0
    glance(monkeypatch, "export", study, "--out", tmp_path / "export")
    capsys.readouterr()
    return tmp_path / "export"


def test_whatever_was_changed_in_an_export_is_found(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verified(change: str, file: str = "seal.json") -> str:
        folder = Path(shutil.copytree(exported, tmp_path / change.replace(" ", "-")))
        content = json.loads((folder / file).read_text(encoding="utf-8"))
        CHANGES[change](content)
        (folder / file).write_text(json.dumps(content), encoding="utf-8")
        assert glance(monkeypatch, "verify", folder) == 1, change
        return capsys.readouterr().out

    assert "× The seal shown is 0000" in verified("another root")
    assert "× Item" in verified("an item of the other arm")
    assert "× The plan is not what was sealed" in verified("a looser plan")
    assert "× The secret draws other items" in verified("another secret")
    assert "× Line 2 of the log" in verified("a name in the log", "events.json")
    assert "× The log ends" in verified("a shorter log", "events.json")
    archive = Path(shutil.make_archive(str(tmp_path / "all"), "zip", exported))
    assert glance(monkeypatch, "verify", archive) == 0
    assert glance(monkeypatch, "verify", exported / "seal.json") == 0


def _other_arm(seal: dict) -> None:  # type: ignore[type-arg]
    item = seal["items"][0]
    item["arm"] = next(arm["name"] for arm in seal["record"]["arms"] if arm["name"] != item["arm"])


CHANGES = {
    "another root": lambda seal: seal.update(root="0" * 64),
    "an item of the other arm": _other_arm,
    "a looser plan": lambda seal: seal["record"]["plan"].update(alpha=0.2),
    "another secret": lambda seal: seal.update(secret="0" * 64),
    "a name in the log": lambda events: events["rows"][1].update(actor="Eve"),
    "a shorter log": lambda events: events["rows"].pop(),
}


@pytest.mark.parametrize("days", ["0", "-3", "99999999999"])
def test_a_link_works_for_a_number_of_days_that_exists(
    at_home: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], days: str
) -> None:
    assert glance(monkeypatch, "invite", "Winter study", "--name", "Rater A", "--days", days) == 2
    assert f"{days} was given" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_a_sentence(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert glance(monkeypatch, "migrate") == 0
    study = create(monkeypatch, capsys)
    (tmp_path / "taken").touch()
    assert glance(monkeypatch, "export", study, "--out", tmp_path / "taken") == 2
    assert "taken could not be written" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["nonsense", "sqlite:////proc/none/x.db"])
def test_a_database_that_cannot_be_made_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    monkeypatch.setenv("GLANCE_DATABASE_URL", url)
    monkeypatch.setattr(commands, "get_settings", lambda: Settings(_env_file=None))
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


def test_an_export_of_nothing_warns_and_fails_where_that_is_asked_for(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = create(monkeypatch, capsys)
    assert glance(monkeypatch, "close", study) == 0
    assert glance(monkeypatch, "export", study, "--out", tmp_path / "out") == 0
    assert "The table ratings has no rows" in capsys.readouterr().err
    assert (tmp_path / "out" / "ratings.csv").read_text().startswith('"item","rater"')
    assert glance(monkeypatch, "export", study, "--out", tmp_path / "out", "--strict") == 1


def test_raters_go_on_while_an_export_is_made(
    at_home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = create(monkeypatch, capsys)
    others = open_engine(at_home.database_url)
    made = exports.files

    def slow_files(session: Session, found: Study) -> Iterator[exports.File]:
        with transaction(others) as writing:  # on SQLite it would wait for whoever holds the lock, and give up
            record(writing, "Ada", "signed out")
        return made(session, found)

    monkeypatch.setattr(exports, "files", slow_files)
    assert glance(monkeypatch, "export", study, "--out", tmp_path / "out") == 0
    with transaction(others) as session:
        assert list(session.scalars(select(AuditEvent.what).order_by(AuditEvent.id))) == [
            "signed out",
            "download taken",
        ]
    others.dispose()
