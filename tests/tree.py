"""Every module with the first line of what it says of itself: `python -m tests.tree` writes docs/files.md."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "files.md"
PACKAGES = ("app", "model_runner", "demo", "benchmarks")
HEAD = """# Every file, in a phrase

Written by `python -m tests.tree` from what each file says of itself. The README's tree is the way in.
"""


def modules(package: str) -> list[Path]:
    """The package's files that git knows or will know, in the order of their names."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", f"{package}/*.py"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [ROOT / name for name in sorted(set(listed)) if (ROOT / name).exists() and (ROOT / name).stat().st_size]


def phrase(path: Path) -> str:
    """The first sentence of a module's docstring, or else the names of what it holds."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if said := ast.get_docstring(tree):
        return said.split("\n\n")[0].replace("\n", " ")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = [node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]
    return ", ".join(f"`{name}`" for name in names)


def register() -> str:
    lines = [HEAD]
    for package in PACKAGES:
        lines += [f"## {package}/", "", "| file | what |", "| --- | --- |"]
        for path in modules(package):
            lines.append(f"| {path.relative_to(ROOT / package)} | {phrase(path)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(register(), encoding="utf-8")
    sys.stdout.write(f"{TARGET} is written.\n")
