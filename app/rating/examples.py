"""Snippets of the welcome page, written for it: what a neuron with one rule looks like, and one without.

Shading is made up. Two of the four are pale all over and two are not, because how much is shaded says nothing about
the verdict. Text: William Shakespeare (public domain), and sentences and code of our own.
"""

import re
from typing import NamedTuple

from markupsafe import Markup

from app.rating.paragraphs import paragraphs
from app.rating.shading import rows
from app.rating.snippets import LEVELS, Shown

_MARKED = re.compile(r"\{(\d+)\|([^}]*)\}")
_WORD = re.compile(r" ?\w+|\s|[^\w\s]")


class Example(NamedTuple):
    """One neuron of the welcome page."""

    name: str
    """Its checkboxes' ids begin with it."""
    snippets: Markup


def read(marked: str, *, pale: bool = False) -> Shown:
    """`a {3|weak} and a {15|strong} word`: levels in braces, zero elsewhere; the highest is the peak."""
    texts, levels = list[bytes](), list[float]()
    for at, part in enumerate(_MARKED.split(marked)):
        if at % 3 == 1:
            levels.append(float(part))
        elif at % 3 == 2:
            texts.append(part.encode())
        else:
            words = _WORD.findall(part)
            texts += [word.encode() for word in words]
            levels += [float((len(word) + len(texts)) % 4) if pale else 0.0 for word in words]
    return Shown(texts, levels, levels.index(max(levels)), document_start=True, document_end=True)


def example(name: str, *marked: str, pale: bool = False) -> Example:
    """Numbered snippets, all of one made-up neuron."""
    snippets = [read(text, pale=pale) for text in marked]
    (html,) = paragraphs(snippets, LEVELS, 64)
    return Example(name, Markup("\n".join(rows(html, name))))  # noqa: S704  # ours, and escaped


DIRECTIONS = example(
    "directions",
    "You have broke his pate with your bowl.\n\nSecond Lord.\n{15|[}Aside] If his wit had been like him that broke it, "
    "it would have run all out.",
    "Can I go forward when my heart is here?\nTurn back, dull earth, and find thy centre out.\n\n{14|[}He climbs the "
    "wall, and leaps down within it]",
    "I do not know from what part of the world\nI should be greeted, if not from Lord Hamlet.\n\n{13|[}Enter Sailors]"
    "\n\nFirst Sailor. God bless you, sir.",
    "What noise is this I hear? Dare any be so bold\nto sound retreat or parley, when I command them kill?\n\n{13|[}"
    "Enter Buckingham and Clifford, attended]",
    "Let us go in together;\nAnd still your fingers on your lips, I pray.\n{12|[}Exeunt]",
    pale=True,
)
KIN = example(
    "kin",
    "Ask your{15| grandmother} how the bread was made before the mill came.",
    "The farm went to her elder{14| brother}, who had never liked the place and sold it in the spring.",
    "He was buried next to his{13| wife} and two of their{9| children}.",
    'for person in people:\n    family["{12|mother}"] = person.name\n',
    "My{12| uncle} kept bees, and my{10| aunt} kept the money.",
)
SCATTERED = example(
    "scattered",
    'path = path.replace("{15|\\\\}", "/")\nreturn quote(path)',
    "He took the{12| seven} o’clock train to the coast and was never asked about it.",
    "The bridge was closed on{11| Tuesday}, and nobody could say why.",
    "    return{10| None}\n\n\ndef area(width, height):\n    return width * height",
    "Take three eggs, a cup of sugar and the{9| peel} of one lemon; beat them well.",
)
MIXED = example(
    "mixed",
    "She counted the{15| coin}s twice, then put them back in the tin box.",
    "    if len(args) !={13| 3}:\n        raise ValueError(args)",
    "“You may keep the horse,”{12| said} the judge, “but the cart is mine.”",
    "Nothing is so tiring as wait{12|ing} for a letter that has been promised.",
    "def area(width, height):\n{11|    }return width * height",
    pale=True,
)
EXAMPLES = {"interpretable": (DIRECTIONS, KIN), "not_interpretable": (SCATTERED, MIXED)}
