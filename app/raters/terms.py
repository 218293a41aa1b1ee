"""The terms of a study, checked and set by an administrator while it runs."""

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from app import log
from app.errors import Invalid
from app.models import Study
from app.raters.room import lock_study
from app.rating.returning import allowed_host
from app.rating.terms import Terms

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
CODE = re.compile(r"[A-Za-z0-9_-]{1,40}")
LARGEST = 100_000
LIMITS = {  # whole sentences, so that they can be translated
    "day_goal": "The day’s goal is %(n)s. It can be from 1 to %(most)s; leave the field empty for none.",
    "most_a_day": "The limit a day is %(n)s. It can be from 1 to %(most)s; leave the field empty for none.",
    "most_raters": "The limit of raters is %(n)s. It can be from 1 to %(most)s; leave the field empty for none.",
}
OUR_NAMES = ("language", "theme", "palette")


def set_terms(session: Session, study: Study, wanted: Terms, hosts: Sequence[str], *, actor: str) -> None:
    """Raises Invalid with a sentence. The log says what changed, and neither the code nor the address."""
    terms = checked(wanted, hosts)
    lock_study(session, study.id)
    before = Terms.of(study.terms)
    if terms == before:
        return
    study.terms = terms.stored()
    session.flush()
    numbers = {name: getattr(terms, name) for name in LIMITS}
    way_back = {"completion_code": bool(terms.completion_code), "own_codes": terms.own_codes}
    host = allowed_host(terms.return_address, hosts)
    log.append(session, study.id, actor, "terms changed", **numbers, **way_back, return_host=host)


def checked(wanted: Terms, hosts: Sequence[str]) -> Terms:
    for name, sentence in LIMITS.items():
        _check_limit(getattr(wanted, name), sentence)
    names = (wanted.person_name, wanted.study_name, wanted.session_name)
    for name in names:
        _check_name(name)
    if len(set(names)) < len(names):
        raise Invalid("A panel’s three names must differ, and they are %(names)s.", names=", ".join(names))
    terms = replace(
        wanted, completion_code=wanted.completion_code.strip(), return_address=wanted.return_address.strip()
    )
    if terms.completion_code and not CODE.fullmatch(terms.completion_code):
        raise Invalid(
            "The completion code is “%(code)s”. It takes up to 40 letters, digits, - and _.", code=terms.completion_code
        )
    if terms.return_address and allowed_host(terms.return_address, hosts) is None:
        raise _refused(terms.return_address, hosts)
    return terms


def _check_limit(value: int | None, sentence: str) -> None:
    if value is not None and not 1 <= value <= LARGEST:
        raise Invalid(sentence, n=value, most=f"{LARGEST:,}")


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name) or name in OUR_NAMES:
        raise Invalid(
            "A panel’s name in an address is “%(name)s”. It takes a letter, and after it up to 39 letters, digits, - "
            "and _, and cannot be %(ours)s.",
            name=name,
            ours=", ".join(OUR_NAMES),
        )


def _refused(address: str, hosts: Sequence[str]) -> Invalid:
    if not hosts:
        return Invalid(
            "The way back is “%(address)s”, and whoever runs the server allows no site so far. Have its site written "
            "into GLANCE_RETURN_HOSTS first, or leave the field empty.",
            address=address,
        )
    return Invalid(
        "The way back is “%(address)s”. It must begin with https:// and lie on a site that whoever runs the server "
        "allows in GLANCE_RETURN_HOSTS, which are: %(hosts)s.",
        address=address,
        hosts=", ".join(hosts),
    )
