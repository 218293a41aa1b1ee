"""Somebody who manages always stays."""

from threading import Barrier, Thread

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app.administrators import managing
from app.commands.terminal import shell
from app.errors import AppError, Conflict, Refused
from app.models import Administrator
from app.roles import Role, roles_of
from app.store.db import transaction
from tests.app.administrators.acts import EVERY
from tests.studies import make_administrator


def test_the_last_one_who_manages_keeps_the_role_and_is_not_shut_out(session: Session) -> None:
    ada = make_administrator(session)
    make_administrator(session, "Bob", may_manage=False)
    cleo = make_administrator(session, "Cleo")
    managing.deactivate(session, ada, cleo.id)
    for act in (
        lambda actor: managing.set_roles(session, actor, ada.id, frozenset({Role.RATE})),
        lambda actor: managing.deactivate(session, actor, ada.id),
    ):
        for actor in (ada, shell()):
            with pytest.raises(Conflict, match="“Ada” is the only administrator with the role “manage”"):
                act(actor)
    assert ada.may_manage
    managing.reactivate(session, ada, cleo.id)
    managing.set_roles(session, ada, ada.id, frozenset({Role.RATE}))
    assert roles_of(ada) == {Role.RATE}
    with pytest.raises(Refused, match="“manage”"):
        managing.set_roles(session, ada, ada.id, EVERY)


@pytest.mark.parametrize("act", ["roles", "deactivate"])
def test_two_who_shut_each_other_out_at_the_same_instant(own_engine: Engine, act: str) -> None:
    for _ in range(5):
        with transaction(own_engine) as session:
            for name in ("Ada", "Bob"):
                for old in session.scalars(select(Administrator).where(Administrator.name == name)):
                    session.delete(old)
                session.flush()
            ids = [make_administrator(session, name).id for name in ("Ada", "Bob")]
        refused = at_once(own_engine, act, ids)
        assert len(refused) == 1
        with transaction(own_engine) as session:
            left = session.scalars(
                select(Administrator.name).where(Administrator.may_manage, Administrator.deactivated_at.is_(None))
            )
            assert len(left.all()) == 1


def at_once(engine: Engine, act: str, ids: list[int]) -> list[AppError]:
    together, refused = Barrier(2), []

    def do(actor_id: int, other_id: int) -> None:
        with transaction(engine) as reading:
            actor = reading.get_one(Administrator, actor_id)
        together.wait()
        try:
            with transaction(engine) as session:
                if act == "roles":
                    managing.set_roles(session, actor, other_id, frozenset())
                else:
                    managing.deactivate(session, actor, other_id)
        except AppError as refusal:
            refused.append(refusal)

    threads = [Thread(target=do, args=(one, other)) for one, other in (ids, ids[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return refused
