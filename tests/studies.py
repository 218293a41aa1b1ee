"""A small sealed study for tests, from two small run folders, and a browser that is let in to rate or to manage."""

import json
from functools import cache
from pathlib import Path
from shutil import copytree
from tempfile import mkdtemp
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.clock import now
from app.models import Administrator, BrowserSession, Study
from app.raters.actions import invite
from app.settings import Settings
from app.studies.creating import create_study
from app.studies.design import Design
from app.studies.freezing import Frozen, freeze
from app.web.security import ADMINISTRATOR_COOKIE, LIFETIME, hash_password, new_token, token_hash
from model_runner.run.digest import run_digest
from tests.runs import make_run

SMALL = {"neurons_per_arm": 6, "snippets": 20, "seats": 3}
SECRET = bytes(range(32))
PASSWORD = "correct horse battery staple"


LABELS: tuple[dict[str, Any], dict[str, Any]] = (
    {"name": "quillfeather", "size": 611_328, "seed": 71_077, "validation_loss": 3.90917, "train_tokens": 2_345_671},
    {"name": "marzipan", "size": 922_752, "seed": 40_993, "validation_loss": 4.41703, "train_tokens": 2_876_549},
)
"""What the two runs are called and were made of: words and numbers that occur nowhere else."""


@cache
def two_runs() -> tuple[Path, Path]:
    """Two small runs that differ in everything an arm may differ in; made once for all tests."""
    folder = Path(mkdtemp(prefix="glance-runs-"))
    make_run(folder / "gelu", "gelu", layers=2, hidden=32, **LABELS[0])
    make_run(folder / "solu_ln", "solu_ln", layers=3, hidden=24, **LABELS[1])
    return folder / "gelu", folder / "solu_ln"


@cache
def phased_runs(seldom: tuple[int, ...] = ()) -> tuple[Path, ...]:
    """The two runs, and of each model a run for practice and one for the hypothesis check.

    `seldom` are the indices, in every layer of the second model, of neurons that hardly fire in the check.
    """
    folder = Path(mkdtemp(prefix="glance-runs-"))
    others: list[Path] = []
    for split in ("practice", "check"):
        for name, shape, label in zip(("gelu", "solu_ln"), ((2, 32), (3, 24)), LABELS, strict=True):
            others.append(folder / f"{name}-{split}")
            scarce = seldom if split == "check" and name == "solu_ln" else ()
            make_run(others[-1], name, *shape, split=split, bands=split == "check", seldom=scarce, **label)
    return (*two_runs(), *others)


PHASES: dict[str, Any] = {"practice_items": 4, "check_snippets": 10, "guesses": 3}
"""What a design asks for that has everything raters can meet before and after rating."""


@cache
def exchanged_runs(runs: tuple[Path, ...] = ()) -> tuple[Path, ...]:
    """The same snippets, and every label of an arm at the other one."""
    pairs = runs or two_runs()
    return tuple(run for at in range(0, len(pairs), 2) for run in _exchanged(pairs[at : at + 2]))


def _exchanged(pair: tuple[Path, ...]) -> tuple[Path, ...]:
    folder = Path(mkdtemp(prefix="glance-runs-"))
    infos = [json.loads((run / "run.json").read_text()) for run in pair]
    for run, own, other in zip(pair, infos, infos[::-1], strict=True):
        copytree(run, folder / run.name)
        exchanged = own | {name: other[name] for name in ARM_LABELS}
        info = {name: value for name, value in exchanged.items() if name != "arrays"}
        exchanged["digest"] = run_digest(info, exchanged["arrays"])  # it stands for its labels too
        (folder / run.name / "run.json").write_text(json.dumps(exchanged))
    return tuple(folder / run.name for run in pair)


ARM_LABELS = (
    "name", "condition", "size", "seed", "validation_loss", "train_tokens", "checkpoint_digest", "activation_point",
)  # fmt: skip


@cache
def frozen_study(design: Design, runs: tuple[Path, ...], *, secret: bytes = SECRET, simulated: bool = False) -> Frozen:
    return freeze(design, runs, secret, simulated=simulated)


def make_study(
    session: Session,
    settings: Settings,
    _tmp_path: Path | None = None,
    *,
    name: str = "Winter study",
    secret: bytes = SECRET,
    simulated: bool = False,
    runs: tuple[Path, ...] = (),
    **design: Any,
) -> Study:
    """A study of two arms, 6 neurons each, 3 seats and 1 verdict a neuron, unless `design` says otherwise."""
    frozen = frozen_study(Design(**SMALL | design), runs or two_runs(), secret=secret, simulated=simulated)
    return create_study(session, settings, name=name, frozen=frozen, actor="Ada")


@cache
def password_hash() -> str:
    return hash_password(PASSWORD)  # slow on purpose, so once for all tests


def make_administrator(session: Session, name: str = "Ada", **rights: Any) -> Administrator:
    administrator = Administrator(name=name, password_hash=password_hash(), **rights)
    session.add(administrator)
    session.flush()
    return administrator


def sign_in(client: TestClient, session: Session, administrator: Administrator | None = None) -> Administrator:
    """Let the client's browser in without going through the page."""
    administrator = administrator or make_administrator(session)
    token = new_token()
    row = BrowserSession(token_hash=token_hash(token), administrator_id=administrator.id, expires_at=now() + LIFETIME)
    session.add(row)
    session.flush()
    client.cookies.set(ADMINISTRATOR_COOKIE, token)
    return administrator


def open_rater(client: TestClient, session: Session, study: Study, name: str = "Rater A") -> str:
    """Let the client's browser in as a new rater of the study, as through a link. Returns the link's path."""
    token = invite(session, study, name, actor="Ada")
    answer = client.post(f"/join/{token}", data={"consent": "yes"})
    assert answer.status_code == 303, answer.text
    return f"/join/{token}"
