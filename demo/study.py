"""The demonstration's study: made once, kept in var/, found again by the next call."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, count
from pathlib import Path

CHECK_SNIPPETS, GUESSES = 10, 6


@dataclass(frozen=True)
class Made:
    """What a person needs to get in. Kept in a file that only its owner may read."""

    study: str
    administrator: str
    password: str
    links: list[str]
    """A path a rater."""


def environment(folder: Path) -> dict[str, str]:
    """Settings of an application whose database and key lie in this folder."""
    database = f"sqlite:///{folder / 'glance.db'}"
    return {"GLANCE_DATABASE_URL": database, "GLANCE_KEY_FILE": str(folder / "key")}


def glance(folder: Path, *arguments: str | Path, given: str | None = None) -> str:
    """Run the `glance` command and return what it printed. `given` is what it asks for, such as a password."""
    command = [sys.executable, "-m", "app.cli", *map(str, arguments)]
    done = subprocess.run(  # noqa: S603  # our own command
        command, env={**os.environ, **environment(folder)}, input=given, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout.strip()


def make_study(
    folder: Path, runs: Sequence[Path], others: Sequence[Path], *, simulated: bool, raters: int, neurons: int
) -> Made:
    """A database, an administrator, a study over these runs and a link for each rater."""
    glance(folder, "migrate")
    administrator, password = _new_administrator(folder)
    design = ["--neurons", str(neurons), "--raters", str(raters), "--overlap", str(neurons // 3)]
    if others:
        design += ["--practice", str(2 * len(runs)), "--check", str(CHECK_SNIPPETS), "--guesses", str(GUESSES)]
    which = [part for run in (*runs, *others) for part in ("--run", str(run))]
    kind = ["--simulated"] if simulated else []
    name = _free("Demonstration", {line.split("  ")[-1] for line in glance(folder, "study", "list").splitlines()})
    study = glance(folder, "study", "create", "--name", name, *which, *design, *kind).splitlines()[-1]
    names = [f"Rater {number + 1}" for number in range(raters)]
    links = [glance(folder, "invite", study, "--name", name).splitlines()[-1] for name in names]
    return Made(study, administrator, password, links)


def _new_administrator(folder: Path) -> tuple[str, str]:
    """A name and a password that let in."""
    name = _free("admin", {line.split("  ")[0] for line in glance(folder, "administrator", "list").splitlines()})
    password = secrets.token_urlsafe(9)
    glance(folder, "administrator", "add", name, "--password-stdin", given=password + "\n")
    return name, password


def _free(name: str, taken: Container[str]) -> str:
    """The name, or with a number where an earlier demonstration, or one that was stopped, has it."""
    return next(one for one in chain([name], (f"{name}-{number}" for number in count(2))) if one not in taken)


def kept_study(folder: Path, runs: Sequence[Path], others: Sequence[Path], *, raters: int, neurons: int) -> Made:
    """The study of an earlier call over the same runs, or a new one."""
    path = folder / "demo.json"
    digests = [json.loads((run / "run.json").read_text(encoding="utf-8"))["digest"] for run in runs]
    if path.exists() and (folder / "glance.db").exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept.pop("runs") == digests:
            glance(folder, "migrate")
            return Made(**kept)
    made = make_study(folder, runs, others, simulated=False, raters=raters, neurons=neurons)
    path.touch(mode=0o600)
    path.write_text(json.dumps({**asdict(made), "runs": digests}, indent=2) + "\n", encoding="utf-8")
    return made
