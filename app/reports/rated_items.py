"""The appendix: what raters saw of each item, and what they said of it. Only once the study is unblinded."""

import re
from collections import Counter
from dataclasses import dataclass, field

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.models import Arm, Assignment, Item, ItemContent, OpenedItem, Rater, Rating, Study
from app.reports.standing import raters_in_order, standing

PAGE = 10
AT_ONCE = 500
"""Items of a file read together: what raters saw of them is in memory."""
CHECKBOX = re.compile(rb'<input type=checkbox id=w(\d+) aria-label=\1 aria-labelledby="w w\1">')


@dataclass(frozen=True)
class Said:
    """One verdict that stands."""

    number: int
    """Of the rater, from 0: the letter in the report."""
    verdict: str
    hypothesis: str


@dataclass(frozen=True)
class RatedItem:
    """One item, opened."""

    code: str
    kind: str
    condition: str
    size: int
    layer: int
    neuron: int
    fragment: bytes
    said: list[Said] = field(default_factory=list)

    @property
    def tally(self) -> dict[str, int]:
        """How many verdicts of each kind stand, the commonest first."""
        return dict(Counter(one.verdict for one in self.said).most_common())


def count_pages(session: Session, study: Study) -> int:
    items = session.scalar(select(func.count(Item.id)).where(Item.study_id == study.id)) or 0
    return max(1, -(-items // PAGE))


def rated_items(session: Session, study: Study, page: int) -> list[RatedItem]:
    """The items of one page, by arm, layer and neuron. Raises NotFound past the last page."""
    if page > count_pages(session, study):
        raise NotFound
    return _read(session, study, (page - 1) * PAGE, PAGE)


def all_items(session: Session, study: Study) -> list[RatedItem]:
    """Every item, for the appendix of a file."""
    starts = range(0, count_pages(session, study) * PAGE, AT_ONCE)
    return [item for start in starts for item in _read(session, study, start, AT_ONCE)]


def _read(session: Session, study: Study, start: int, count: int) -> list[RatedItem]:
    found = {
        item.id: RatedItem(
            item.code, item.kind.value, arm.condition, arm.size, opened.layer, opened.index,
            own_ids(fragment, item.code),
        )
        for item, opened, arm, fragment in session.execute(_opened(study).limit(count).offset(start))
    }  # fmt: skip
    numbers = {rater.id: number for number, (rater, _) in enumerate(raters_in_order(session, study))}
    for rating, assignment in session.execute(_said(study, list(found))):
        said = Said(numbers[assignment.rater_id], str(rating.verdict), rating.hypothesis)
        found[assignment.item_id].said.append(said)
    return list(found.values())


def _opened(study: Study) -> Select[Item, OpenedItem, Arm, bytes]:
    return (
        select(Item, OpenedItem, Arm, ItemContent.fragment)
        .join(OpenedItem, OpenedItem.item_id == Item.id)
        .join(Arm, Arm.id == OpenedItem.arm_id)
        .join(ItemContent, ItemContent.item_id == Item.id)
        .where(Item.study_id == study.id)
        .order_by(Arm.id, OpenedItem.layer, OpenedItem.index, Item.code)
    )


def _said(study: Study, items: list[int]) -> Select[Rating, Assignment]:
    found = standing(study).join(Rater, Rater.id == Assignment.rater_id).where(Assignment.item_id.in_(items))
    return found.order_by(Rater.id, Assignment.position)


def own_ids(fragment: bytes, code: str) -> bytes:
    """The fragment with ids of its own, so that several can stand on one page. Text holds no bare "<"."""
    name = f"w{code}-".encode()
    own = b'<input type=checkbox id=%b\\1 aria-label=\\1 aria-labelledby="%b %b\\1">' % (name, name, name)
    return CHECKBOX.sub(own, fragment.rstrip())
