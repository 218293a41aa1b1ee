"""The snippets of a hypothesis check: a token of each is outlined, nothing is shaded, each can be ticked. Pure."""

from collections.abc import Sequence

from app.rating.paragraphs import paragraphs
from app.rating.shading import Fragments, columns
from app.rating.snippets import Shown


def render_held_out(snippets: Sequence[Shown], tokens: int = 64) -> Fragments:
    """A list in two columns. There is no wider form: what is asked is whether the rule foretells the firing.

    An element with the id `fires` says what the checkboxes do; each is named by its text too.
    """
    (html_of,) = paragraphs(snippets, 0.0, tokens)
    items = [
        f"<li id=h{number}><input type=checkbox name=fires value={number} form=verdict "
        f'aria-labelledby="fires h{number}">{html}'
        for number, html in enumerate(html_of, 1)
    ]
    return Fragments(columns(items), b"")
