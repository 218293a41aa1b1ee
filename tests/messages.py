"""Every message a person can meet, for the catalogues. `python -m tests.messages` brings locale/*.po up to date."""

import ast
import io
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

from app.words.language import LANGUAGES, LOCALE

ROOT = Path(__file__).parent.parent
JINJA = {"extensions": "jinja2.ext.i18n", "trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}
HEADER = """msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: {forms}\\n"

"""
ERRORS = {"NotFound", "Busy", "Conflict", "Refused", "Invalid", "SignedOut", "PasswordDue"}
SPOKEN = (
    "app/rating",
    "app/phases",
    "app/administrators",
    "app/raters",
    "app/studies/seal.py",
    "app/main.py",
    "app/web/security.py",
    "app/errors.py",
)
"""Where sentences that are translated are written outside templates."""


def messages() -> dict[str | tuple[str, ...], list[tuple[str, int]]]:
    """Each message, with the places that say it."""
    found: dict[str | tuple[str, ...], list[tuple[str, int]]] = {}
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for line, message, _, _ in extract("jinja2", io.BytesIO(path.read_bytes()), options=JINJA):
            found.setdefault(message, []).append((_relative(path), line))
    for path in sorted({*(ROOT / "app").rglob("*.py")} - {ROOT / "app/rating/examples.py"}):
        for line, message in _in_python(path):
            found.setdefault(message, []).append((_relative(path), line))
    return found


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _in_python(path: Path) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text())
    spoken = _relative(path).startswith(SPOKEN)
    constants = [node for node in tree.body if isinstance(node, ast.Assign)] if spoken else []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            marked, error = node.func.id == "N_", spoken and node.func.id in ERRORS
            if (marked or error) and node.args and _is_text(node.args[0]):
                yield node.lineno, node.args[0].value
        if spoken and isinstance(node, ast.FunctionDef) and node.name in ("__init__", "show_http_error"):
            constants.append(node)
    for node in constants:
        for part in ast.walk(node):
            if _is_text(part) and part.value.endswith(".") and " " in part.value:
                yield part.lineno, part.value


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def catalogue(code: str) -> Catalog:
    with (LOCALE / f"{code}.po").open("rb") as file:
        return read_po(file, locale=code.replace("-", "_"))


def update(code: str) -> None:
    """Add what is new with an empty translation, drop what nobody says any more."""
    old = catalogue(code)
    new = Catalog(locale=code.replace("-", "_"), project="Glance", charset="utf-8", fuzzy=False)
    for message, places in messages().items():
        kept = old.get(message if isinstance(message, str) else message[0])
        new.add(message, kept.string if kept else None, locations=[(path, 0) for path, _ in places[:1]])
    write(code, new)


def write(code: str, new: Catalog) -> None:
    """Without the usual header's dates and addresses, which say nothing and change each time."""
    with (LOCALE / f"{code}.po").open("wb") as file:
        file.write(HEADER.format(language=code.replace("-", "_"), forms=new.plural_forms).encode())
        write_po(file, new, width=120, omit_header=True, include_lineno=False, sort_by_file=True)


if __name__ == "__main__":
    for code in LANGUAGES:
        if code != "en":
            update(code)
