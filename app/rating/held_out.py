"""The snippets of a hypothesis check: a token of each is outlined, nothing is shaded, each can be ticked. Pure."""

from collections.abc import Sequence

from app.rating.shading import Fragments, Shown, paragraph


def render_held_out(snippets: Sequence[Shown], tokens: int = 64) -> Fragments:
    """A list in two columns. There is no wider form: what is asked is whether the rule foretells the firing."""
    half = (len(snippets) + 1) // 2
    left, right = _rows(snippets[:half], tokens, 1), _rows(snippets[half:], tokens, half + 1)
    html = f"<ol role=list>\n{left}\n</ol>\n<ol role=list start={half + 1}>\n{right}\n</ol>\n"
    return Fragments(html.encode(), b"")


def _rows(snippets: Sequence[Shown], tokens: int, first: int) -> str:
    """An element with the id `fires` says what the checkboxes do; each is named by its text too."""
    return "\n".join(
        f"<li id=h{number}><input type=checkbox name=fires value={number} form=verdict "
        f'aria-labelledby="fires h{number}">{paragraph(shown, 0.0, tokens)}'
        for number, shown in enumerate(snippets, first)
    )
