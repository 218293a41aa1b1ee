import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Item, ItemKind, Placement
from app.raters.flags import Flag, Work, flags
from app.raters.queries import rater_rows
from app.raters.work import work_of
from app.rating import actions
from app.rating.queries import given_verdicts
from app.settings import Settings
from tests.app.seated import NO, UNSURE, YES, Clock, Hand, item_of, join, seated_study


def said(found: list[Flag]) -> list[str]:
    return [flag.message % flag.values for flag in found]


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (Work(), []),
        (Work(verdicts=60, commonest=40, quick=4, repeats=10, repeats_same=9, controls=6, controls_yes=1), []),
        (Work(verdicts=50, commonest=30, quick=31), ["31 verdicts under 8 s"]),
        (Work(verdicts=500, commonest=300, quick=31), []),
        (Work(verdicts=19, commonest=19), []),
        (Work(verdicts=20, commonest=20), ["the same verdict 20 times out of 20"]),
        (Work(verdicts=20, commonest=9, skipped=3), ["3 neurons given back as broken"]),
        (Work(verdicts=40, commonest=20, repeats=14, repeats_same=9), ["repeats: 9 of 14 the same"]),
        (Work(verdicts=40, commonest=20, controls=5, controls_yes=3), ["controls: 3 of 5 called interpretable"]),
    ],
)
def test_a_flag_wants_a_number_and_a_share(work: Work, expected: list[str]) -> None:
    assert said(flags(work)) == expected


def test_work_is_counted_from_the_verdicts_as_they_stand(session: Session, settings: Settings, time: Clock) -> None:
    study = seated_study(session, items=8, seats=1)
    items = session.scalars(select(Item).where(Item.study_id == study.id).order_by(Item.id)).all()
    items[1].kind, items[1].repeat_of = ItemKind.REPEAT, items[0].id
    items[3].kind, items[3].repeat_of = ItemKind.REPEAT, items[2].id
    items[4].kind = ItemKind.MIXED
    for item in items:
        placed = session.scalars(select(Placement).where(Placement.item_id == item.id)).one()
        placed.kind = item.kind
    session.flush()
    answers = dict(zip([item.id for item in items], [YES, YES, YES, NO, YES, NO, UNSURE, NO], strict=True))
    hand = Hand(session, settings, join(session, study))
    hand.begin()
    quick = {items[0].id, items[5].id}
    while (code := hand.page.code) is not None:
        item_id = item_of(session, code)
        if item_id == items[7].id:
            hand.skip()
            continue
        time.wait(seconds=3 if item_id in quick else 60)
        hand.give(answers[item_id])
    expected = Work(verdicts=7, quick=2, commonest=4, skipped=1, repeats=2, repeats_same=1, controls=1, controls_yes=1)
    assert work_of(session, study) == {hand.rater.id: expected}
    wrong = next(one for one in given_verdicts(session, hand.rater) if item_of(session, one.code) == items[3].id)
    actions.edit(session, settings, hand.locked, wrong.code, wrong.version, YES, "", "an edit")
    assert work_of(session, study)[hand.rater.id].repeats_same == 2


def test_a_rater_who_hurries_is_flagged_in_the_table(session: Session, settings: Settings, time: Clock) -> None:
    study = seated_study(session, items=6, seats=2, share=6)
    hurried = Hand(session, settings, join(session, study, "Nadia"))
    join(session, study, "Omar")
    hurried.begin()
    while hurried.page.state == "item":
        time.wait(seconds=2)
        hurried.give(NO)
    assert [said(row.flags) for row in rater_rows(session, study)] == [["6 verdicts under 8 s"], []]
