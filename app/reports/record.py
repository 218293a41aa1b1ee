"""What a reader needs to check a report: the seal, the plan, the act of unblinding, seeds, digests, versions."""

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version

from app.models import Arm, Study
from app.reports.formats import moment

PACKAGES = ("glance", "numpy", "pandas", "scipy", "statsmodels", "altair", "vl-convert-python")


@dataclass(frozen=True)
class Record:
    """The record at the end of a report."""

    code: str
    seal: str
    plan: str
    """Digest of the plan."""
    sealed_at: str
    closed_at: str | None
    unblinded_at: str | None
    unblinded_by: str | None
    reason: str | None
    bootstrap_seed: int
    """Seed of every resampling: the first 32 bits of the seal, so that nobody could choose it."""
    secret: str | None
    """The secret of the draw, published by the act of unblinding."""
    log_head: str
    log_lines: int
    runs: dict[str, str]
    """Digest of every arm's run folder, by the arm's name; of those for practice and check by name and split."""
    software: dict[str, str]
    """Versions of the programs that computed this report."""


def seed_of(seal: str) -> int:
    """The seed of every resampling: fixed with the seal, before the first verdict, and public."""
    return int(seal[:8], 16)


def record(study: Study) -> Record:
    """The record of a study whose arms are loaded."""
    return Record(
        code=study.code,
        seal=study.seal_root,
        plan=study.plan_digest,
        sealed_at=moment(study.created_at),
        closed_at=_moment(study.closed_at),
        unblinded_at=_moment(study.unblinded_at),
        unblinded_by=study.unblinded_by,
        reason=study.unblinding_reason,
        bootstrap_seed=seed_of(study.seal_root),
        secret=study.secret,
        log_head=study.log_head,
        log_lines=study.log_lines,
        runs=dict(run for arm in study.arms for run in _runs(arm)),
        software={"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
    )


def _runs(arm: Arm) -> Iterator[tuple[str, str]]:
    yield arm.name, arm.run_digest
    for split, run in sorted((arm.other_runs or {}).items()):
        yield f"{arm.name}, {split}", run["run_digest"]


def _moment(at: datetime | None) -> str | None:
    return moment(at) if at else None
