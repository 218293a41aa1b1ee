"""The style sheet and the pages name the same classes."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHEET = re.sub(r"/\*.*?\*/", "", (ROOT / "static/glance.css").read_text(), flags=re.DOTALL)
SHADES = {f"a{level}" for level in range(16)}
"""Written with their number."""
SIGNS = set("tszrx") | {"w"}
"""Written by the shading, a letter each."""
ELSEWHERE = SHADES | SIGNS | {"htmx-request"}


def test_every_class_of_the_sheet_is_on_a_page() -> None:
    selectors = " ".join(re.findall(r"[^{};]+(?=\{)", SHEET))
    styled = set(re.findall(r"\.([a-zA-Z][\w-]*)", selectors))
    assert styled - written() - ELSEWHERE == set(), "no page has these classes"


def test_every_colour_and_measure_of_the_sheet_is_used() -> None:
    named = set(re.findall(r"(--[\w-]+)\s*:", SHEET))
    assert named - set(re.findall(r"var\((--[\w-]+)", SHEET)) - drawn() == set()


def drawn() -> set[str]:
    """What figures take from the sheet."""
    figures = (ROOT / "app/reports/figures").rglob("*.py")
    return {name for path in figures for name in re.findall(r"--[\w-]+", path.read_text())}


def written() -> set[str]:
    """The classes that a template, a script or Python writes."""
    paths = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static").glob("*.js"), *(ROOT / "app").rglob("*.py")]
    found: set[str] = set()
    for path in paths:
        text = path.read_text()
        found.update(
            word for value in re.findall(r'class="((?:\{\{.*?\}\}|\{%.*?%\}|[^"])*)"', text) for word in words(value)
        )
        found.update(re.findall(r"class=([\w-]+)", text))
        found.update(word for call in re.findall(r"classList\.\w+\(([^)]*)\)", text) for word in words(call))
        found.update(word for block in re.findall(r"_class %\}(.*?)\{% endblock", text) for word in words(block))
    return found


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-zA-Z][\w-]*", text))
