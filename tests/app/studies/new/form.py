"""The form of a new study, as a browser sends it."""

import re

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Draft

FORM = {"name": "Spring", "run": ["gelu", "solu_ln"], "neurons_per_arm": 4, "seats": 2, "overlap": 1}


def drafts(session: Session) -> list[Draft]:
    return list(session.scalars(select(Draft).order_by(Draft.id)))


def fields(page: str) -> dict[str, object]:
    """What a browser would send of the form as it stands."""
    form = page[page.index('id="new"') :].partition("</form>")[0]
    sent: dict[str, object] = dict(re.findall(r'<input type="(?:number|text)" name="(\w+)" value="([^"]*)"', form))
    checked = re.findall(r'<input type="(?:checkbox|radio)" name="(\w+)" value="([\w-]+)" checked', form)
    sent |= {name: value for name, value in checked if name != "run"}
    sent |= dict(re.findall(r'<textarea name="(\w+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL))
    chosen = re.findall(r'<select name="(\w+)">.*?<option value="([^"]*)" selected', form, re.DOTALL)
    return sent | dict(chosen) | {"run": [value for name, value in checked if name == "run"]}
