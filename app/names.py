"""Names that people give: of studies, links and administrators."""

from unicodedata import category

from app.errors import Invalid
from app.words.said import N_

NOT_IN_A_NAME = {"Cc", "Cs", "Zl", "Zp"}
"""Control characters, halves of characters, and other ends of lines. Joiners stay: emoji and Persian need them."""


def one_line(name: str, longest: int) -> str:
    """The name without spaces around it. Raises Invalid where it is longer than a column, or would break a line."""
    name = name.strip()
    if len(name) > longest:
        raise Invalid(
            N_("The name has %(n)s characters; at most %(most)s are kept. Shorten it."), n=len(name), most=longest
        )
    wrong = next((letter for letter in name if category(letter) in NOT_IN_A_NAME), None)
    if wrong is not None:
        raise Invalid(
            N_("The name holds the character U+%(code)s, which does not fit on a line. Leave it out."),
            code=f"{ord(wrong):04X}",
        )
    return name
