from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Item, ItemContent, ItemKey, Placement, Seat
from app.settings import Settings
from tests.studies import make_study


def test_a_study_is_created_from_two_runs(session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    assert session.scalars(select(func.count()).select_from(Item).where(Item.study_id == study.id)).one() == 12
    seats = session.scalars(select(Seat).where(Seat.study_id == study.id).order_by(Seat.number)).all()
    assert [seat.number for seat in seats] == [1, 2, 3]
    assert sum(seat.share for seat in seats) == 12
    placed = select(func.count()).select_from(Placement).join(Seat).where(Seat.study_id == study.id)
    assert session.scalars(placed).one() == 36


def test_every_form_of_an_item_has_one_length(session: Session, settings: Settings) -> None:
    make_study(session, settings)
    for of in (ItemContent.fragment, ItemContent.wide_fragment, ItemKey.sealed):
        assert session.scalars(select(func.count(func.distinct(func.length(of))))).one() == 1
