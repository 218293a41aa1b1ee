"""`glance administrator`: added, given roles and passwords, shut out and let in again."""

import pytest
from sqlalchemy import select

from app.models import Administrator
from app.settings import Settings
from app.store.db import open_engine, transaction
from tests.app.commands.typed import glance
from tests.studies import PASSWORD


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
