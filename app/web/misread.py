"""What is wrong with a field of a form or an address, in our own words and the reader's language."""

from collections.abc import Mapping
from typing import Any

from app.words.language import N_, Language

LONGEST_SHOWN = 40
OTHERWISE = N_("The field “%(field)s” was not understood. Go back, change it and send it again.")
MISSING = N_("The field “%(field)s” is missing. Go back, fill it in and send it again.")
TOO_LONG = N_("The field “%(field)s” takes at most %(max_length)s characters. Go back, shorten it and send it again.")
NOT_A_CHOICE = N_("“%(given)s” is not one of the choices of the field “%(field)s”. Go back, choose and send it again.")
NOT_A_NUMBER = N_("The field “%(field)s” takes a whole number, and “%(given)s” is none. Go back and change it.")
TOO_SMALL = N_("The field “%(field)s” takes a number from %(ge)s on, and %(given)s was given. Go back and change it.")
TOO_LARGE = N_("The field “%(field)s” takes a number up to %(le)s, and %(given)s was given. Go back and change it.")
WRONG_LETTERS = N_("The field “%(field)s” holds characters that it cannot take. Go back, change it and send it again.")
TOO_MANY_FIELDS = N_("This form has more fields than any of ours. Nothing was stored. Go back and send it again.")
NOT_A_FORM = N_("What was sent cannot be read as a form. Nothing was stored. Load the page again and send it again.")
SENTENCES = {
    "missing": MISSING,
    "string_too_long": TOO_LONG,
    "literal_error": NOT_A_CHOICE,
    "enum": NOT_A_CHOICE,
    "bool_parsing": NOT_A_CHOICE,
    "int_parsing": NOT_A_NUMBER,
    "int_parsing_size": NOT_A_NUMBER,
    "int_from_float": NOT_A_NUMBER,
    "greater_than_equal": TOO_SMALL,
    "less_than_equal": TOO_LARGE,
    "string_pattern_mismatch": WRONG_LETTERS,
    "string_unicode": WRONG_LETTERS,
    "value_error": WRONG_LETTERS,
}
"""By pydantic's kinds of errors. `no_nul` is the only check of ours that ends as a value_error."""


def said_of(error: Mapping[str, Any], language: Language) -> str:
    """One error of a RequestValidationError as a sentence with what to do. Its own English is never shown."""
    sentence = SENTENCES.get(error["type"], OTHERWISE)
    _, *names = error["loc"]  # "body" or "query" comes first, then the field, then a place in its list
    field = names[0] if names else error["loc"][0]
    return language.gettext(sentence) % {**error.get("ctx", {}), "field": field, "given": _shown(error.get("input"))}


def _shown(given: object) -> str:
    text = str(given)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
