"""The listing should explain the product: the README's tree and the register of files are kept true."""

import re
from pathlib import Path

import pytest

from tests.tree import PACKAGES, TARGET, modules, register

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def tree_paths() -> list[str]:
    """The paths of the README's tree: indentation is the folder."""
    block = README.split("## Where things are")[1].split("```")[1]
    paths, folders = [], dict[int, str]()
    for line in block.strip("\n").splitlines():
        names, depth = line.strip().split("  ")[0], (len(line) - len(line.lstrip())) // 2
        above = "".join(folders[d] for d in range(depth))
        paths += [above + name for name in names.split()]
        if names.endswith("/"):
            folders[depth] = names
    return paths


@pytest.mark.parametrize("path", tree_paths())
def test_the_readmes_tree_names_what_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_readmes_tree_names_every_folder_of_the_packages() -> None:
    named = set(tree_paths())
    for package in PACKAGES:
        for path in modules(package):
            folder = path.parent.relative_to(ROOT)
            assert f"{folder}/" in named, f"{folder}/ is not in the README's tree"


def test_the_register_is_current() -> None:
    assert TARGET.read_text(encoding="utf-8") == register(), "run: python -m tests.tree"


@pytest.mark.parametrize("link", re.findall(r"\]\(((?!http)[^)#]+)\)", README))
def test_the_readmes_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


@pytest.mark.parametrize("target", re.findall(r"`make (?:-s )?([a-z-]+)", README))
def test_the_make_targets_that_the_readme_names_exist(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_every_benchmark_is_explained() -> None:
    from benchmarks.__main__ import BENCHMARKS  # not above: it loads torch

    explained = re.findall(r"`make bench ONLY=(\S+)`", (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8"))
    assert sorted(explained) == sorted([*BENCHMARKS, "name"])
