"""What the README and the documentation tell somebody to do can be done: commands, links, files, packages."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli import parser as glance
from model_runner.cli import parser as runner

ROOT = Path(__file__).parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
BLOCK = re.compile(r"^```\n(.*?)^```$|^((?: {4}.*\n)+)", re.DOTALL | re.MULTILINE)
BEFORE = r"(?:docker compose exec web |docker compose run --rm (?=runner )|torchrun --nproc-per-node \d+ -m model_)?"
COMMAND = re.compile(rf"^{BEFORE}(?:(glance)|glance-runner|runner|runner\.cli) (.+)$")
TESTS = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
OF_A_QUOTED_PROJECT = "tests/integration/test_tokenization_methods.py"


def commands() -> Iterator[tuple[str, str]]:
    """The lines of the blocks that call one of the two commands, without what is said beside them."""
    for page, text in PAGES.items():
        for line in "\n".join("".join(block) for block in BLOCK.findall(text)).splitlines():
            if COMMAND.match(line.strip()):
                yield page, line.split(" #")[0].strip()


def mentioned() -> set[str]:
    """Commands within sentences, which may leave out what they take."""
    found = {word for text in PAGES.values() for word in re.findall(r"`(glance(?:-runner)? [^`]+)`", text)}
    return {" ".join(word.split()) for word in found}


def understand(line: str) -> None:
    found = COMMAND.match(line)
    assert found
    # Ends the program (SystemExit) where it is not understood.
    (glance if found[1] else runner)().parse_args(shlex.split(found[2]))


@pytest.mark.parametrize(("page", "line"), list(commands()))
def test_a_command_is_understood(page: str, line: str) -> None:
    understand(line)


@pytest.mark.parametrize("line", sorted(mentioned()))
def test_a_command_in_a_sentence_is_one(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        understand(line)
    except SystemExit:
        said = capsys.readouterr().err
        assert not said or re.search(r"arguments are required|invalid choice: '(NAME|…)'", said)


def test_commands_were_found() -> None:
    assert {page for page, _ in commands()} >= {"README.md", "docs/running.md", "docs/training.md"}
    assert "glance verify EXPORT" in mentioned()


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(((?!http)[^)#]+)\)", PAGES[page])
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_tests_that_a_page_names_are_there(page: str) -> None:
    text = PAGES[page].replace(OF_A_QUOTED_PROJECT, "")
    assert [found for found in re.findall(r"`(tests/[\w/*.]+)`", text) if not list(ROOT.glob(found.rstrip("/")))] == []
    assert set(re.findall(r"`(?:\w+/)*(test_\w+)(?:\.py)?`", text)) <= TESTS


def test_no_extra_is_installed_by_a_name_that_is_somebody_elses() -> None:
    """The package index has another project of our name: extras are installed from the folder."""
    sources = [
        path for folder in ("app", "model_runner", "benchmarks", "locale") for path in (ROOT / folder).rglob("*.*")
    ]
    texts = [*PAGES.values(), *(p.read_text(encoding="utf-8") for p in sources if p.suffix in {".py", ".po"})]
    assert [found for text in texts for found in re.findall(r"install '?glance\b.*", text)] == []
