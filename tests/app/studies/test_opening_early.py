"""One item is opened before the study is, and verified alone."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict, Invalid, NotFound
from app.models import EarlyOpening, Event, Item, ItemKey
from app.settings import Settings
from app.studies.design import Design
from app.studies.early import open_one, opened_early, opened_file
from app.studies.opening import open_study
from app.studies.proof import proof_of, root_by
from app.studies.records import record_of
from app.studies.verifying import verify_export
from tests.app.seated import YES, Hand, join
from tests.studies import PASSWORD, make_administrator, make_study, sign_in


def test_one_item_is_opened_and_verified_alone(
    client: TestClient, session: Session, settings: Settings, tmp_path: Path
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    code = session.scalars(select(Item.code).where(Item.study_id == study.id)).all()[3]
    form = {"item": code, "reason": "its text must not be shown", "password": PASSWORD}
    answer = client.post(f"/studies/{study.code}/open-item", data=form)
    assert answer.headers["location"] == f"/studies/{study.code}/opened/{code}"
    page = client.get(f"/studies/{study.code}/opened/{code}").text
    file = client.get(f"/studies/{study.code}/opened/{code}.json")
    said = file.json()
    assert f"<dd>{said['arm']}</dd>" in page
    event = session.scalars(select(Event).where(Event.what == "item opened early")).one()
    sealed = session.scalars(select(ItemKey).join(Item, Item.id == ItemKey.item_id).where(Item.code == code)).one()
    assert event.detail["leaf"] == sealed.leaf == said["leaf"]
    assert "must not be shown" not in json.dumps(event.detail)
    (tmp_path / "one.json").write_bytes(file.content)
    assert verify_export(tmp_path / "one.json").faults == []
    for change in ({"item": said["item"] | {"layer": 7}}, {"root": "0" * 64}, {"path": said["path"][1:]}):
        (tmp_path / "one.json").write_text(json.dumps(said | change))
        assert verify_export(tmp_path / "one.json").faults
    (tmp_path / "one.json").write_text(json.dumps({"path": 3}))
    with pytest.raises(Invalid, match="was not understood"):
        verify_export(tmp_path / "one.json")
    sign_in(client, session, make_administrator(session, "Bob"))
    assert client.get(f"/studies/{study.code}/opened/{code}").status_code == 404, "the others may rate"
    assert client.get(f"/studies/{study.code}/opened/{code}.json").status_code == 404
    assert "1 item" in client.get(f"/studies/{study.code}").text


def test_the_item_in_somebodys_hands_is_opened(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    rater = join(session, study, "Kim")
    with pytest.raises(NotFound, match="no neuron in hand"):
        open_one(session, settings, study.code, ada, item="", rater=rater.code, reason="why not")
    hand = Hand(session, settings, rater)
    hand.begin()
    code = open_one(session, settings, study.code, ada, item="", rater=rater.code, reason="it frightens")
    assert [one.code for one in opened_early(session, study)] == [code]
    with pytest.raises(Conflict, match="was opened already"):
        open_one(session, settings, study.code, ada, item=code, rater="", reason="again")
    assert hand.give(YES)


@pytest.mark.parametrize(
    ("changes", "status", "says"),
    [
        ({"item": "nowhere"}, 404, "no item nowhere"),
        ({"item": ""}, 422, "Say which item"),
        ({"reason": " "}, 422, "Say why this item is opened"),
        ({"password": "something else"}, 403, "do not fit"),
    ],
)
def test_a_refused_opening_is_written_down_and_opens_nothing(
    client: TestClient, session: Session, settings: Settings, changes: dict[str, str], status: int, says: str
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    item = session.scalars(select(Item.code)).all()[0]
    form = {"item": item, "reason": "why", "password": PASSWORD} | changes
    answer = client.post(f"/studies/{study.code}/open-item", data=form)
    assert (answer.status_code, says in answer.text) == (status, True)
    assert session.scalars(select(EarlyOpening)).all() == []
    assert session.scalars(select(Event.actor).where(Event.what == "early opening refused")).all() == ["Ada"]
    sign_in(client, session, make_administrator(session, "Bob", may_unblind=False))
    assert client.get(f"/studies/{study.code}/open-item").status_code == 403


def test_every_leaf_has_its_way_to_the_root(session: Session, settings: Settings) -> None:
    for neurons in (1, 2, 6, 7):
        study = make_study(session, settings, name=f"Study {neurons}", neurons_per_arm=neurons)
        record = record_of(session, study)
        for code in record.leaves:
            assert root_by(record.leaves[code], proof_of(record, code)) == study.seal_root


def test_the_opened_file_names_the_arm_of_the_draw(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    code = session.scalars(select(Item.code).where(Item.study_id == study.id)).all()[0]
    open_one(session, settings, study.code, ada, item=code, rater="", reason="why")
    said = opened_file(session, study, opened_early(session, study)[0])
    arms = [arm["name"] for arm in record_of(session, study).arms]
    key = next(k for k in open_study(session, settings, study).items.values() if k["code"] == code)
    assert (said["arm"], said["item"]) == (arms[key["arm"]], key)
    assert Design.of(study.design).unblinders == 1
