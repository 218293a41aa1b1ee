"""Who a panel of participants (Prolific and the like) says comes, in the address of a link. Needs no database."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from app.errors import Invalid
from app.rating.terms import Terms

FITTING = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
LONGEST_SHOWN = 40


class Arrival(NamedTuple):
    """The fields are those of PanelMember."""

    person: str
    panel_study: str = ""
    panel_session: str = ""


def arrival_of(query: Iterable[tuple[str, str]], terms: Terms) -> Arrival | None:
    """None where the address names nobody. Raises Invalid where it says something that cannot be meant."""
    given = list(query)
    person, study, session = (_value(given, name) for name in (terms.person_name, terms.study_name, terms.session_name))
    if person is None and (study, session) != (None, None):
        raise Invalid(
            "The address of this link lacks “%(name)s”, which says who you are. Open it from the panel’s page again, "
            "or tell the panel.",
            name=terms.person_name,
        )
    return Arrival(person, study or "", session or "") if person is not None else None


def _value(given: list[tuple[str, str]], name: str) -> str | None:
    values = [value for key, value in given if key == name]
    if not values:
        return None
    if len(set(values)) > 1:
        raise Invalid(
            "The address of this link says “%(name)s” more than once. Open it from the panel’s page again.", name=name
        )
    if not FITTING.fullmatch(values[0]):
        raise Invalid(
            "The address of this link says “%(value)s” for “%(name)s”, which is no name that a panel gives: up to 100 "
            "letters, digits and . _ @ + - are. Open it from the panel’s page again, or tell the panel.",
            value=_shown(values[0]),
            name=name,
        )
    return values[0]


def _shown(value: str) -> str:
    return value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…"
