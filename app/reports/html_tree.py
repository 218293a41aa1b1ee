"""HTML of our own templates as a tree. Knows the end tags that HTML lets one leave out. Pure."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "input", "img", "meta", "link", "hr", "col"}
CLOSES = {
    "td": {"td", "th"},
    "th": {"td", "th"},
    "tr": {"td", "th", "tr"},
    "tbody": {"td", "th", "tr", "thead"},
    "li": {"li"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
}
"""What an element's start tag ends, where its own end tag was left out."""
BOUNDS = {"table", "ol", "ul", "dl", "section", "article", "details"}
"""No left-out end tag reaches out of these."""


@dataclass
class Element:
    """An element, or, with an empty name, a piece of text."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: "list[Element]" = field(default_factory=list)
    text: str = ""

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    def all(self, *names: str) -> "list[Element]":
        """Every element below with one of these names, in order."""
        found = []
        for child in self.children:
            found += [child] if child.name in names else []
            found += child.all(*names)
        return found


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("root")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while self.open[-1].name in CLOSES.get(tag, ()):
            self.open.pop()
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        for depth in range(len(self.open) - 1, 0, -1):
            if self.open[depth].name == tag:
                del self.open[depth:]
                return
            if self.open[depth].name in BOUNDS:
                return

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(Element("", text=data))


def parse(html: str) -> Element:
    """The tree of a piece of HTML."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    return builder.open[0]
