"""Everything a report says, gathered once: the page, the file, the PDF and report.json are views of it."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Session

from app.models import Study
from app.reports.amended import Amended, EarlyItem, amended, early_items, plans_of
from app.reports.answers import guesses, held_out
from app.reports.arms import ArmRow, arm_rows
from app.reports.flow import Flow, flow, offered
from app.reports.formats import moment
from app.reports.lead import Lead, leads
from app.reports.machines import MachineReport, machine_reports, machines_figure
from app.reports.queries import pages, verdicts
from app.reports.record import Record, record
from app.studies.plans import amendments

if TYPE_CHECKING:
    from app.reports.analysed import Analysed
    from app.reports.figures import Figure
    from app.reports.statistics.plan import Plan

FORMAT = 1
NOTHING = "No verdict of a {kind} rater on a neuron stands, so there is nothing to estimate."


@dataclass(frozen=True)
class Report:
    """The report of an unblinded study."""

    study: Study
    plan: "Plan"
    """As it stood when the study was unblinded: the newest amendment, or else the plan that was sealed."""
    found: "Analysed | None"
    """The analysis and its figures; None where no verdict counts."""
    why_empty: str
    """Why there is no analysis: a sentence, or empty."""
    leads: list[Lead]
    arms: list[ArmRow]
    flow: Flow
    record: Record
    amended: "Amended | None"
    """The amendments and the main difference under the plan that was sealed; None where there is no amendment."""
    opened_early: list[EarlyItem]
    """Items opened before the study was."""
    machines: list[MachineReport]
    """Machine raters, each by itself: none of their verdicts enters anything else of the report."""

    @property
    def simulated(self) -> bool:
        """Its raters are programs, and every number and figure must say so."""
        return self.study.simulated

    @cached_property
    def figures(self) -> "dict[str, Figure]":
        """All figures that there are numbers for, by name."""
        machines = machines_figure(self.machines, self.plan.baseline, self.simulated)
        return (self.found.figures if self.found else {}) | ({machines.name: machines} if machines else {})

    @property
    def command(self) -> str:
        """What computes every number of the report again."""
        return f"glance report {self.study.code} --out report"


def make_report(session: Session, study: Study) -> Report:
    """The report of an unblinded study whose arms are loaded. Raises Refused before it is unblinded."""
    from app.reports.analysed import analysed
    from app.reports.statistics.verdicts import complete, counted

    table, made = verdicts(session, study), amendments(session, study)
    sealed, plan = plans_of(session, study, made)
    nothing = counted(complete(table), plan).empty
    read_pages = partial(pages, session, study)
    said = {"guesses": guesses(session, study, plan), "held_out": held_out(session, study, plan)}
    found = None if nothing else analysed(table, plan, study.seal_root, offered(study), read_pages, **said)
    return Report(
        study=study,
        plan=plan,
        amended=amended(table, study, made, sealed, plan) if made else None,
        opened_early=early_items(session, study),
        found=found,
        why_empty=NOTHING.format(kind=plan.rater_kind) if nothing else "",
        leads=leads(found.analysis) if found else [],
        arms=arm_rows(study.arms, table, plan, found.analysis) if found else [],
        flow=flow(session, study, table, plan),
        record=record(study),
        machines=machine_reports(session, study, table, plan),
    )


def as_json(report: Report) -> dict[str, Any]:
    """report.json: every number of the page, and the whole analysis they are from."""
    from app.reports.statistics.estimate import jsonable

    study = report.study
    parts: dict[str, Any] = {
        "format": FORMAT,
        "label": "SIMULATED" if report.simulated else "",
        "study": {
            "code": study.code, "name": study.name, "simulated": study.simulated, "pilot": study.pilot,
            "created_at": moment(study.created_at), "design": study.design,
        },
        "leads": report.leads, "arms": report.arms, "flow": report.flow,
        "record": report.record, "amended": report.amended, "opened_early": report.opened_early,
        "machines": report.machines, "sources": study.sources, "command": report.command,
        "why_empty": report.why_empty,
    }  # fmt: skip
    found: dict[str, Any] = jsonable(parts)
    return found | {"analysis": jsonable(report.found.analysis) if report.found else None}
