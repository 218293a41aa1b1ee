"""The languages of the pages, read from gettext catalogues in locale/."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from babel.messages.pofile import read_po
from fastapi import Request
from markupsafe import Markup, escape

from app.words.said import N_, Quoted, Said

__all__ = ["LANGUAGES", "LOCALE", "N_", "Language", "language", "language_of"]

LOCALE = Path(__file__).parents[2] / "locale"
LANGUAGES = {"en": "English", "zh-Hans": "中文"}
COOKIE = "glance_language"


MONTHS = (
    N_("January"), N_("February"), N_("March"), N_("April"), N_("May"), N_("June"),
    N_("July"), N_("August"), N_("September"), N_("October"), N_("November"), N_("December"),
)  # fmt: skip


@dataclass(frozen=True)
class Language:
    code: str
    messages: dict[str, str]

    @property
    def gap(self) -> str:
        """What stands between two sentences."""
        return " " if self.code == "en" else ""

    def gettext(self, message: str) -> str:
        return self.messages.get(message, message)

    def say(self, text: str) -> str:
        """A sentence of ours, with its values where it has some."""
        if not isinstance(text, Said) or not text.values:
            return self.gettext(str(text))
        return self.gettext(text.message) % {name: self._put(value) for name, value in text.values.items()}

    def shown(self, text: str) -> Markup:
        """The same on a page: what another program said in English, and stays English, is marked as that."""
        if isinstance(text, Quoted) and self.code != "en":
            return Markup('<q lang="en">{}</q>').format(str(text))
        if not isinstance(text, Said) or not text.values:
            return escape(self.say(text))
        return escape(self.gettext(text.message)) % {name: self._shown(value) for name, value in text.values.items()}

    def _shown(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return escape(self.gap).join(self.shown(one) for one in value)
        return self.shown(value) if isinstance(value, Said | Quoted) else self._put(value)

    def _put(self, value: Any) -> Any:
        """Names and what people wrote stay as they are."""
        if isinstance(value, datetime):
            return self.minute(value)
        if isinstance(value, tuple):
            return self.gap.join(self.say(one) for one in value)
        return self.say(value) if isinstance(value, Said) else value

    def ngettext(self, one: str, many: str, n: int) -> str:
        """English has two forms; Chinese has one, kept under the plural."""
        return self.gettext(one if n == 1 and self.code == "en" else many)

    def day(self, at: datetime) -> str:
        """22 March 2031."""
        return self.gettext(N_("%(day)s %(month)s %(year)s")) % self._parts(at)

    def day_of_year(self, at: datetime) -> str:
        """22 March."""
        return self.gettext(N_("%(day)s %(month)s")) % self._parts(at)

    def minute(self, at: datetime) -> str:
        """22 March 2031, 08:31 UTC."""
        return self.gettext(N_("%(day)s, %(time)s UTC")) % {"day": self.day(at), "time": f"{at:%H:%M}"}

    def _parts(self, at: datetime) -> dict[str, int | str]:
        return {"day": at.day, "month": self.gettext(MONTHS[at.month - 1]), "year": at.year}


@cache
def language(code: str) -> Language:
    """The catalogue of a language. English is the language of the templates and needs none."""
    path = LOCALE / f"{code}.po"
    if not path.exists():
        return Language(code, {})
    with path.open("rb") as file:
        catalogue = read_po(file)
    messages: dict[str, str] = {}
    for entry in catalogue:
        # A plural is kept under its last form, in both languages.
        key = entry.id if isinstance(entry.id, str) else entry.id[-1]
        value = entry.string if isinstance(entry.string, str) else (entry.string or ("",))[-1]
        if key and value:
            messages[key] = value
    return Language(code, messages)


def language_of(request: Request) -> Language:
    """The language chosen by hand, now or earlier, or else the first one of the browser's that we speak."""
    for chosen in (request.query_params.get("language"), request.cookies.get(COOKIE)):
        if chosen in LANGUAGES:
            return language(chosen)
    for part in request.headers.get("accept-language", "").split(","):
        wanted = part.split(";")[0].strip().lower()
        if wanted.startswith("zh"):
            return language("zh-Hans")
        if wanted.startswith("en"):
            break
    return language("en")
