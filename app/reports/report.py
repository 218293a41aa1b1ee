"""Everything a report says, gathered once: the page, the file, the PDF and report.json are views of it."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Session

from app.models import Amendment, Study
from app.rating.queries import clock_of
from app.reports.amended import Amended, EarlyItem, amended, early_items, plans_of
from app.reports.answers import guesses, held_out, left_out
from app.reports.arms import ArmRow, arm_rows
from app.reports.detectable import Detectable, detectable_by
from app.reports.flow import Flow, flow, offered
from app.reports.formats import moment
from app.reports.lead import Lead, leads
from app.reports.machines import MachineReport, machine_reports, machines_figure
from app.reports.queries import pages, verdicts
from app.reports.record import Record, record, seed_of
from app.reports.standing import raters_in_order
from app.studies.plans import amendments
from app.words.language import Language, language

if TYPE_CHECKING:
    import pandas as pd

    from app.reports.analysed import Analysed, Inputs
    from app.reports.figures import Figure
    from app.reports.statistics.model import Effect
    from app.reports.statistics.plan import Plan

FORMAT = 1
ENGLISH = language("en")
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
    raters: list[str]
    """Their codes, in the order of their letters."""
    power: "Detectable | None"
    """What the design could have seen, by formula; None where there is no difference to see."""
    mixed: "tuple[Effect, ...]"
    """The mixed model, where it was asked for."""
    machines: list[MachineReport]
    """Machine raters, each by itself: none of their verdicts enters anything else of the report."""

    @property
    def simulated(self) -> bool:
        """Its raters are programs, and every number and figure must say so."""
        return self.study.simulated

    @property
    def stamp(self) -> str:
        """What every figure and table is stamped with."""
        return stamp_of(self.study)

    @property
    def figures(self) -> "dict[str, Figure]":
        """All figures that there are numbers for, by name, with English words."""
        return self.figures_in(ENGLISH)

    def figures_in(self, speaking: Language) -> "dict[str, Figure]":
        """The same with the words of a language."""
        from app.reports.figures import detectable_figure, flow_figure
        from app.reports.speech import in_language

        found = dict(self.found.figures_in(speaking)) if self.found else {}
        with in_language(speaking):
            more = [machines_figure(self.machines, self.plan.baseline, self.stamp)]
            more += [detectable_figure(self.power)] if self.power and self.power.eighty else []
            more.append(flow_figure(self.flow, self.stamp))
        return found | {figure.name: figure for figure in more if figure}

    def drawn_in(self, speaking: Language) -> dict[str, str]:
        """Every figure as inline SVG, by name."""
        from app.reports.figures import inline

        kept = self.found.drawn_in(speaking) if self.found else {}
        figures = self.figures_in(speaking)
        return {name: kept[name] if name in kept else inline(figure) for name, figure in figures.items()}

    @property
    def command(self) -> str:
        """What computes every number of the report again."""
        return f"glance report {self.study.code} --out report"


def stamp_of(study: Study) -> str:
    """SIMULATED, PILOT, both or nothing: what nobody may take for the outcome of a study of people."""
    return ", ".join(["SIMULATED"] * study.simulated + ["PILOT"] * study.pilot)


@dataclass(frozen=True)
class Gathered:
    """What a report is made of, read from the database before anything is computed."""

    verdicts: "pd.DataFrame"
    amendments: list[Amendment]
    sealed: "Plan"
    plan: "Plan"
    held_out: "pd.DataFrame | None"
    inputs: "Inputs | None"
    """Of the analysis; None where no verdict counts."""


def gather(session: Session, study: Study) -> Gathered:
    """Of an unblinded study whose arms are loaded. Raises Refused before it is unblinded."""
    from app.reports.analysed import Inputs
    from app.reports.statistics.exclusions import raters_left_out
    from app.reports.statistics.verdicts import complete, counted

    table, made = verdicts(session, study), amendments(session, study)
    sealed, plan = plans_of(session, study, made)
    whole = complete(table)
    out = left_out(session, study, plan, raters_left_out(whole, plan))
    checked = held_out(session, study, plan, out)
    inputs = Inputs(
        table, plan, study.seal_root, offered(study), partial(pages, session, study),
        guesses=guesses(session, study, plan, out), held_out=checked, stamp=stamp_of(study),
        clock=clock_of(study.design),
    )  # fmt: skip
    return Gathered(table, made, sealed, plan, checked, None if counted(whole, plan).empty else inputs)


def make_report(session: Session, study: Study, gathered: Gathered | None = None, *, mixed: bool = False) -> Report:
    """The report of an unblinded study whose arms are loaded. Raises Refused before it is unblinded.

    `mixed` fits the mixed model too, which takes minutes and needs the package bambi.
    """
    from app.reports.analysed import analysed

    have = gathered or gather(session, study)
    table, plan, made = have.verdicts, have.plan, have.amendments
    found = analysed(have.inputs) if have.inputs else None
    return Report(
        study=study,
        plan=plan,
        amended=amended(table, study, made, have.sealed, plan) if made else None,
        opened_early=early_items(session, study),
        found=found,
        why_empty="" if found else NOTHING.format(kind=plan.rater_kind),
        leads=leads(found.analysis) if found else [],
        arms=arm_rows(study.arms, table, plan, found.analysis) if found else [],
        flow=flow(session, study, table, plan, have.held_out),
        record=record(study),
        raters=[rater.code for rater, _ in raters_in_order(session, study)],
        power=detectable_by(found.analysis) if found else None,
        mixed=_mixed(table, plan, study) if mixed and found else (),
        machines=machine_reports(session, study, table, plan),
    )


def _mixed(table: "pd.DataFrame", plan: "Plan", study: Study) -> "tuple[Effect, ...]":
    from app.reports.statistics.mixed import mixed_model
    from app.reports.statistics.verdicts import complete, counted

    return mixed_model(counted(complete(table), plan), plan.baseline, plan.level, seed_of(study.seal_root))


def as_json(report: Report) -> dict[str, Any]:
    """report.json: every number of the page, and the whole analysis they are from."""
    from app.reports.statistics.estimate import jsonable

    study = report.study
    parts: dict[str, Any] = {
        "format": FORMAT,
        "label": report.stamp,
        "study": {
            "code": study.code, "name": study.name, "simulated": study.simulated, "pilot": study.pilot,
            "created_at": moment(study.created_at), "design": study.design,
        },
        "leads": report.leads, "arms": report.arms, "flow": report.flow,
        "record": report.record, "amended": report.amended, "opened_early": report.opened_early,
        "machines": report.machines, "power": report.power, "mixed": report.mixed,
        "sources": study.sources, "command": report.command,
        "why_empty": report.why_empty,
    }  # fmt: skip
    found: dict[str, Any] = jsonable(parts)
    return found | {"analysis": jsonable(report.found.analysis) if report.found else None}
