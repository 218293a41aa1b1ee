"""The list of kinds of fault names tests, and they are there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([RS]\d+) \| (.+) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
KINDS = {"R": 40, "S": 30}


@cache
def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_kind_has_its_line() -> None:
    assert [kind for kind, _, _ in ROW.findall(PAGE)] == [
        f"{letter}{number}" for letter, most in KINDS.items() for number in range(1, most + 1)
    ]


@pytest.mark.parametrize(("kind", "tests"), [(kind, tests) for kind, _, tests in ROW.findall(PAGE)])
def test_the_tests_of_a_kind_are_there(kind: str, tests: str) -> None:
    named = NAMED.findall(tests)
    assert named, f"{kind} names no test"
    assert ", ".join(f"`{file}::{test}`" for file, test in named) == tests, (
        "a name that is none would not be looked for"
    )
    missing = [test for file, test in named if test not in names_in(ROOT / "tests" / file)]
    assert missing == [], f"{kind}: name the tests that have taken their place in docs/faults.md"
