import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.errors import Conflict, Refused
from app.key import create_key
from app.models import Arm, Event, Item, ItemContent, ItemKey, OpenedItem, Placement, Study, StudyState
from app.settings import Settings
from app.studies.actions import close_study, reopen_study, unblind_study
from app.studies.design import Design
from app.studies.draw import draw
from app.studies.records import record_of
from app.studies.seal import broken_by
from tests.studies import PASSWORD, SECRET, make_administrator, make_study, sign_in

GOOD = {"name": "Winter study", "reason": "all verdicts are in", "password": PASSWORD}


@pytest.fixture
def closed(session: Session, settings: Settings, client: TestClient) -> Study:
    study = make_study(session, settings)
    close_study(session, study.code, sign_in(client, session))
    return study


def unblind(session: Session, settings: Settings, study: Study) -> Study:
    administrator = make_administrator(session, "Bob")
    return unblind_study(session, settings, study.code, administrator, typed_name=study.name, reason="done")


def test_unblinding_opens_what_was_drawn(
    client: TestClient, session: Session, settings: Settings, closed: Study
) -> None:
    page = client.get(f"/studies/{closed.code}/unblind")
    assert page.status_code == 200
    assert 'class="not"' not in page.text
    assert client.post(f"/studies/{closed.code}/unblind", data=GOOD).status_code == 303
    study = session.get_one(Study, closed.id)
    assert (study.state, study.unblinded_by, study.secret) == (StudyState.UNBLINDED, "Ada", SECRET.hex())
    arms = session.scalars(select(Arm).where(Arm.study_id == study.id).order_by(Arm.id)).all()
    drawn = draw(SECRET, Design.of(study.design), [arm.offer for arm in arms]).items
    expected = {item.code: (arms[item.unit.arm].id, item.unit.layer, item.unit.number) for item in drawn}
    opened = session.execute(
        select(Item.code, OpenedItem.arm_id, OpenedItem.layer, OpenedItem.index)
        .join(OpenedItem)
        .where(Item.study_id == study.id)
    )
    assert {code: rest for code, *rest in map(list, opened)} == {code: list(what) for code, what in expected.items()}
    assert broken_by(bytes.fromhex(study.secret or ""), record_of(session, study)) == []
    assert SECRET.hex() in client.get(f"/studies/{study.code}").text


def test_how_long_each_item_takes_to_serve_is_measured_once(
    session: Session, settings: Settings, closed: Study
) -> None:
    unblind(session, settings, closed)
    seconds = session.scalars(select(OpenedItem.serving_seconds)).all()
    assert len(seconds) > 10
    assert all(one is not None and 0 < one < 1 for one in seconds)


def test_unblinding_is_written_down(client: TestClient, session: Session, closed: Study) -> None:
    client.post(f"/studies/{closed.code}/unblind", data=GOOD)
    event = session.scalars(select(Event).where(Event.what == "study unblinded")).one()
    assert event.actor == "Ada"
    assert event.detail["secret"] == SECRET.hex()
    assert "all verdicts" not in str(event.detail)


def test_replaced_neurons_are_published_with_the_secret(
    session: Session, settings: Settings, client: TestClient
) -> None:
    study = make_study(session, settings, neurons_per_arm=50)
    close_study(session, study.code, sign_in(client, session))
    replaced = (unblind(session, settings, study).opened or {})["replaced"]
    assert {row["arm"] for row in replaced} == {"quillfeather", "marzipan"}
    assert {row["why"] for row in replaced} <= {"dead", "never_positive", "too_few"}


@pytest.mark.parametrize(
    ("changes", "status", "says"),
    [
        ({"name": "winter"}, 422, "You typed “winter”"),
        ({"reason": "  "}, 422, "Say why"),
        ({"password": "something else"}, 403, "do not fit"),
    ],
)
def test_a_refused_unblinding_is_written_down_and_opens_nothing(
    htmx: TestClient, session: Session, closed: Study, changes: dict[str, str], status: int, says: str
) -> None:
    answer = htmx.post(f"/studies/{closed.code}/unblind", data=GOOD | changes)
    assert answer.status_code == status
    assert says in answer.text
    assert session.get_one(Study, closed.id).state is StudyState.CLOSED
    assert session.scalars(select(OpenedItem)).all() == []
    assert session.scalars(select(Event.actor).where(Event.what == "unblinding refused")).all() == ["Ada"]


def test_an_open_study_and_one_without_the_right_are_refused(
    client: TestClient, session: Session, settings: Settings, closed: Study
) -> None:
    reopen_study(session, closed.code, make_administrator(session, "Cleo"))
    assert "The study is still open" in client.get(f"/studies/{closed.code}/unblind").text
    assert client.post(f"/studies/{closed.code}/unblind", data=GOOD).status_code == 409
    close_study(session, closed.code, make_administrator(session, "Dan"))
    sign_in(client, session, make_administrator(session, "Bob", may_unblind=False))
    page = client.get(f"/studies/{closed.code}/unblind")
    assert (page.status_code, "the role “unblind”" in page.text) == (403, True)
    assert client.post(f"/studies/{closed.code}/unblind", data=GOOD).status_code == 403


def test_unblinding_cannot_be_undone_or_repeated(
    client: TestClient, session: Session, settings: Settings, closed: Study
) -> None:
    unblind(session, settings, closed)
    assert client.post(f"/studies/{closed.code}/unblind", data=GOOD).status_code == 409
    assert client.post(f"/studies/{closed.code}/reopen").status_code == 409
    assert client.get(f"/studies/{closed.code}/unblind").headers["location"] == f"/studies/{closed.code}"


@pytest.mark.parametrize("what", ["content", "key", "capacity", "order", "plan", "design", "log", "arm"])
def test_whatever_was_changed_behind_the_seal_is_found(
    session: Session, settings: Settings, closed: Study, what: str
) -> None:
    item = session.scalars(select(Item).where(Item.study_id == closed.id).limit(1)).one()
    changes = {
        "content": update(ItemContent).where(ItemContent.item_id == item.id).values(fragment=b"changed"),
        "key": update(ItemKey).where(ItemKey.item_id == item.id).values(leaf="0" * 64),
        "capacity": update(Item).where(Item.id == item.id).values(capacity=2),
        "order": update(Placement).where(Placement.item_id == item.id).values(position=Placement.position + 1000),
        "plan": update(Study).where(Study.id == closed.id).values(plan={**closed.plan, "alpha": 0.1}),
        "design": update(Study).where(Study.id == closed.id).values(design={**closed.design, "snippets": 19}),
        "log": update(Event).where(Event.study_id == closed.id, Event.line == 1).values(actor="Eve"),
        "arm": update(Arm).where(Arm.name == "marzipan").values(size=1),
    }
    session.execute(changes[what])
    session.expire_all()
    with pytest.raises(Conflict, match="was not unblinded"):
        unblind(session, settings, closed)


def test_the_key_must_be_the_one_that_sealed(session: Session, settings: Settings, closed: Study) -> None:
    settings.key_file.unlink()
    with pytest.raises(Refused, match="is missing"):
        unblind(session, settings, closed)
    create_key(settings.key_file)
    with pytest.raises(Refused, match="does not open"):
        make_study(session, settings, name="Another")
    settings.key_file.chmod(0o644)
    with pytest.raises(Refused, match="chmod 600"):
        make_study(session, settings, name="Another")


def test_before_unblinding_nothing_says_which_item_is_which(session: Session, closed: Study) -> None:
    assert session.scalars(select(func.count()).select_from(OpenedItem)).one() == 0
    assert session.get_one(Study, closed.id).secret is None


def test_unblinding_says_which_items_were_shaded_by_rank(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings, rank_shaded_per_arm=2)
    sign_in(client, session)
    client.post(f"/studies/{study.code}/close")
    assert client.post(f"/studies/{study.code}/unblind", data=GOOD).status_code == 303
    shadings = session.scalars(select(OpenedItem.shading).join(Item).where(Item.study_id == study.id)).all()
    assert sorted(shadings) == ["level"] * 8 + ["rank"] * 4
