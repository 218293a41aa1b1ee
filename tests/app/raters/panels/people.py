"""Somebody whom a panel of participants sends."""

from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Rater, Study
from app.raters import actions
from app.raters.withdrawal import withdraw_consent
from app.settings import Settings

PERSON = "5f3c0a9b1e2d4c6a7b8e9f01"
ADDRESS = "https://app.prolific.com/submissions/complete?cc={code}"
HOSTS = ["app.prolific.com"]


def link(session: Session, study: Study, most: int | None = None, name: str = "Panel") -> str:
    return f"/join/{actions.invite(session, study, name, actor='Ada', reusable=True, most_raters=most)}"


def come(client: TestClient, path: str, person: str = PERSON, **more: str) -> int:
    """As somebody in a browser of their own; returns the status of the answer."""
    client.cookies.clear()
    params = {"PROLIFIC_PID": person, "STUDY_ID": "s1", "SESSION_ID": "x1"} | more
    return int(client.post(path, params=params, data={"consent": "yes"}).status_code)


def names(session: Session) -> list[str]:
    return list(session.scalars(select(Rater.name).order_by(Rater.id)))


def withdraw(session: Session, settings: Settings, study: Study) -> Rater:
    """Of the one rater there is, by an administrator."""
    rater = session.scalars(select(Rater)).one()
    return withdraw_consent(
        session, session.get_one(Study, study.id), rater.code, actor="Ada", key_file=settings.key_file
    )
