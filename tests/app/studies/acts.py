"""What tests of acts on a sealed study share: its export in a folder, and its end."""

from pathlib import Path

from sqlalchemy.orm import Session

from app.models import Study
from app.reports.exports import files
from app.settings import Settings
from app.studies.actions import close_study, unblind_study
from tests.studies import PASSWORD, make_administrator

GOOD = {"name": "Winter study", "reason": "all verdicts are in", "password": PASSWORD}


def written(session: Session, study: Study, folder: Path) -> Path:
    for file in files(session, study):
        (folder / file.name).write_bytes(file.content)
    return folder


def whole(session: Session, settings: Settings, study: Study) -> Study:
    """Closed and unblinded, by one."""
    administrator = make_administrator(session, "Zoe")
    close_study(session, study.code, administrator)
    return unblind_study(session, settings, study.code, administrator, typed_name=study.name, reason="done")
