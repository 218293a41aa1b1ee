"""How long the server takes over each item: could somebody who measures answers tell the arms apart?

Measured once, by the act of unblinding, and kept, so that a report made twice says the same. Nobody's stay is
measured for it: the time a verdict took is an outcome.
"""

import random
import statistics
import time
from collections.abc import Collection, Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import ItemContent

ROUNDS = 5
MOST_ITEMS = 2_000
"""A larger study is measured by a sample, or the act would last minutes."""


def serving_seconds(session: Session, items: Collection[int]) -> dict[int, float]:
    """Median seconds to read one item as a rating page does. Each round goes through the items in another order."""
    chance = random.Random(len(items))  # noqa: S311  # an order of measuring, not a secret
    sample = sorted(items) if len(items) <= MOST_ITEMS else chance.sample(sorted(items), MOST_ITEMS)
    rounds = [dict(_one_round(session, chance.sample(sample, len(sample)))) for _ in range(ROUNDS)]
    return {item: statistics.median(taken[item] for taken in rounds) for item in sample}


def _one_round(session: Session, items: Collection[int]) -> Iterator[tuple[int, float]]:
    for item in items:
        started = time.perf_counter()
        session.scalars(select(ItemContent.fragment).where(ItemContent.item_id == item)).one().decode()
        yield item, time.perf_counter() - started
