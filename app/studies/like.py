"""What a study asked for, read back, so that another like it can be drawn: from the page and from the command line."""

from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from app.models import Study
from app.reports.statistics.plan import Plan
from app.settings import Settings
from app.studies.asked import FOLLOWS, USUAL_PLAN, Asked
from app.studies.design import Design
from app.studies.drafts import draft_of
from app.studies.freezing import plan_for
from app.studies.importing import listed
from app.studies.study_file import read


def asked_of(session: Session, settings: Settings, study: Study) -> Asked:
    """Of a study whose arms are loaded. The order of its runs is that of their names."""
    design, plan = Design.of(study.design), Plan.of(study.plan)
    usual = plan_for({arm.condition for arm in study.arms}, design, simulated=False)["baseline"]
    baseline = "" if plan.baseline == usual else plan.baseline
    plan = replace(plan, baseline=baseline, **{name: getattr(USUAL_PLAN, name) for name in FOLLOWS})
    runs = tuple(sorted(_runs(session, settings, study)))
    return Asked(name=study.name, pilot=study.pilot, runs=runs, design=design, plan=plan)


def _runs(session: Session, settings: Settings, study: Study) -> set[str]:
    """Every run folder, those of practice and check with them."""
    draft = draft_of(session, study)
    written = set(read(draft.asked).runs) if draft else set()
    if written and all(Path(run).is_absolute() for run in written):
        return written
    # First studies wrote down where the runs of their arms lie, and of the others only what is in them.
    others = {run["run_digest"] for arm in study.arms for run in (arm.other_runs or {}).values()}
    there = {str(settings.runs_dir / name) for name, info in listed(settings.runs_dir) if info.digest in others}
    return {arm.run_path for arm in study.arms} | there
