"""The snippets of an item as text: the very bytes that people are sent, with the shades written out. Pure.

`⟦7:word⟧` is shaded at level 7, `⟦15*:word⟧` is the outlined token. What a page hides until it is widened is left out.
"""

from html.parser import HTMLParser

OPEN, CLOSE = "⟦", "⟧"
SIGNS = {"n": "⏎", "t": "⇥", "r": "␍", "s": "␣", "z": "◌", "x": ""}
"""What stands for a character that cannot be seen; a byte that is no character is spelled out as on the page."""
VOID = {"input", "br"}


def as_text(fragment: bytes) -> str:
    """The numbered snippets of an item's fragment, a line each."""
    reader = _Reader()
    reader.feed(fragment.decode())
    reader.close()
    return "\n".join(f"{number}. {text}" for number, text in enumerate(reader.snippets, 1))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.snippets: list[str] = []
        self._classes: list[tuple[str, list[str]]] = []
        """The open elements and their classes."""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        classes = (dict(attributes).get("class") or "").split()
        hidden = self._hidden
        self._classes.append((tag, classes))
        if tag == "p":
            self.snippets.append("" if "b" in classes else "…")
        elif tag == "span" and "f" in classes and self.snippets[-1] == "":
            self.snippets[-1] = "…"
        elif not hidden and (level := _level(classes)) is not None:
            self._write(f"{OPEN}{level}{'*' if tag == 'mark' else ''}:")
        if tag == "u" and not hidden:
            self._write(SIGNS[next((name for name in classes if name in SIGNS), "n")])

    def handle_endtag(self, tag: str) -> None:
        while self._classes:
            opened, classes = self._classes.pop()
            if not self._hidden and _level(classes) is not None:
                self._write(CLOSE)
            if opened == "p" and "z" not in classes:
                self._write("…")
            if opened == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._hidden or not any(tag == "p" for tag, _ in self._classes):
            return
        tag, classes = self._classes[-1]
        if tag == "u" and not {"s", "x"} & set(classes):
            data = data.lstrip("\n\r\t") if not {"z"} & set(classes) else ""
        elif tag == "u" and "s" in classes:
            data = ""
        self._write(data.replace(OPEN, f"\\{OPEN}").replace(CLOSE, f"\\{CLOSE}"))

    @property
    def _hidden(self) -> bool:
        return any(tag == "span" and "f" in classes for tag, classes in self._classes)

    def _write(self, text: str) -> None:
        self.snippets[-1] += text


def _level(classes: list[str]) -> int | None:
    """The level of an element, None where it has none."""
    return next((int(name[1:]) for name in classes if name[0] == "a" and name[1:].isdigit()), None)
