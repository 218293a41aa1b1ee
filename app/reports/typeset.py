"""The report's HTML as Typst, so that the PDF says what the page says. Pure.

Everything a person wrote becomes a string of Typst, never markup, so nothing in it can be an instruction.
"""

import re
from collections.abc import Callable, Iterable

from app.reports.html_tree import Element

SPACES = re.compile(r"[ \t\r\n]+")
CONTAINERS = {"root", "article", "div", "section", "details", "figure"}
"""Elements that hold blocks: what is blank between blocks is no text."""
SKIPPED = {"svg", "nav", "script", "style"}
SEEN = "seen"
"""The class of what raters saw: the file has it, the PDF only what was said of it."""


def string(text: str) -> str:
    """A string of Typst. Control characters, which no font has, are left out."""
    escaped = "".join(f"\\{c}" if c in '"\\' else c for c in text if c.isprintable() or c in "\u00a0\u202f")
    return f'"{escaped}"'


def typeset(element: Element) -> str:
    """An element as an expression of Typst."""
    if not element.name:
        text = SPACES.sub(" ", element.text)
        return string(text) if text else "none"
    if element.name in SKIPPED or SEEN in element.classes:
        return "none"
    return WRITERS.get(element.name, _inside)(element)


def _joined(elements: Iterable[Element]) -> str:
    return "{" + "; ".join(part for part in map(typeset, elements) if part != "none") + "}"


def _inside(element: Element) -> str:
    blank = element.name in CONTAINERS
    return _joined(child for child in element.children if not (blank and not child.name and not child.text.strip()))


def _call(function: str) -> Callable[[Element], str]:
    return lambda element: f"{function}({_inside(element)})"


def _paragraph(element: Element) -> str:
    for name in ("byline", "lead", "hint", "notice"):
        if name in element.classes:
            return f"{name}({_inside(element)})"
    return f"prose({_inside(element)})"


def _span(element: Element) -> str:
    for name in ("sim", "mute", "tag"):
        if name in element.classes:
            return f"{name}({_inside(element)})"
    return "none" if "files" in element.classes else _inside(element)


def _figure(element: Element) -> str:
    caption = _joined(element.all("figcaption"))
    name = element.attributes["data-name"]
    return f"drawing({string(name + '.svg')}, {caption})"


def _table(element: Element) -> str:
    rows = element.all("tr")
    columns = _columns(rows)
    head = [row for part in element.all("thead") for row in part.all("tr")]
    cells = [_cell(cell) for row in rows if row not in head for cell in row.all("td", "th")]
    header = ", ".join(_cell(cell) for row in head for cell in row.all("td", "th"))
    caption = _joined(element.all("caption"))
    return f"listing({caption}, ({columns}), table.header({header}), {', '.join(cells)})"


def _columns(rows: list[Element]) -> str:
    """The widths: the column with the longest text takes what the others leave; numbers are never spread."""
    longest: list[int] = []
    for row in rows:
        cells = row.all("td", "th")
        longest += [0] * (len(cells) - len(longest))
        if all(_width(cell) == 1 for cell in cells):
            longest[: len(cells)] = map(max, longest, (_length(cell) for cell in cells))
    widest = longest.index(max(longest))
    return ", ".join("1fr" if column == widest else "auto" for column in range(len(longest)))


def _length(cell: Element) -> int:
    return 0 if "num" in cell.classes else len(_text(cell))


def _text(element: Element) -> str:
    return element.text + "".join(map(_text, element.children))


def _width(cell: Element) -> int:
    return int(cell.attributes.get("colspan", "1"))


def _cell(cell: Element) -> str:
    align = "right" if "num" in cell.classes else "left"
    return f"table.cell(align: {align}, colspan: {_width(cell)}, {_inside(cell)})"


def _list(element: Element) -> str:
    return f"list({', '.join(_inside(item) for item in element.all('li'))})"


def _facts(element: Element) -> str:
    return f"facts({', '.join(_inside(part) for part in element.all('dt', 'dd'))})"


def _section(element: Element) -> str:
    steps = "".join(f", {_inside(step)}" for step in element.all("li"))
    heading = "".join(_inside(one) for one in element.all("h3"))
    return f"steps({heading or 'none'}{steps})"


def _division(element: Element) -> str:
    if "flow" in element.classes:
        return f"flow({', '.join(_section(part) for part in element.all('section'))})"
    return _inside(element)


WRITERS: dict[str, Callable[[Element], str]] = {
    "h1": _call("title"), "h2": _call("heading"), "h3": _call("subheading"), "p": _paragraph,
    "aside": _call("aside"), "span": _span, "b": _call("strong"), "i": _call("emph"), "code": _call("code"),
    "small": _call("small"), "summary": _call("summary"), "figure": _figure, "table": _table, "dl": _facts,
    "ul": _list, "div": _division,
}  # fmt: skip
