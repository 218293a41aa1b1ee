"""The language in which figures are drawn. Functions that draw are deep, and words are all they need it for."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from app.words.language import Language, language

_speaking: ContextVar[Language | None] = ContextVar("speaking", default=None)


def say(message: str) -> str:
    """The message in the language of the figure being drawn."""
    return (_speaking.get() or language("en")).gettext(message)


@contextmanager
def in_language(speaking: Language) -> Iterator[None]:
    """Figures drawn inside say things in this language."""
    token = _speaking.set(speaking)
    try:
        yield
    finally:
        _speaking.reset(token)
