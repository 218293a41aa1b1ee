from typing import Annotated

from fastapi import Depends, Form, Path, Request
from pydantic import AfterValidator

from app.settings import Settings


def no_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("text may not contain NUL characters")  # PostgreSQL cannot store them
    return text


NoNul = AfterValidator(no_nul)
Code = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""A random public code: of a study, an assignment, a sitting, an invitation."""
FormText = Annotated[str, Form(max_length=10_000), NoNul]
ShortText = Annotated[str, Form(max_length=200), NoNul]
OptionalNumber = Annotated[str, Form(pattern=r"^[0-9]{0,6}$")]
"""A whole number, or nothing: an empty field of a form is sent as empty text."""


async def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


AppSettings = Annotated[Settings, Depends(_settings)]
