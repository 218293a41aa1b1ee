"""The form of a new study, as the browser sends it."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Self

from fastapi import Form
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from app.errors import Invalid
from app.reports.statistics.plan import LONGEST_QUESTION, CannotDecide, Correction, Plan, Shuffle, Version
from app.settings import Settings
from app.studies.asked import FIRST, PLANNED, USUAL_PLAN, Asked
from app.studies.design import LONGEST_INSTRUCTIONS, Design, SnippetChoice
from app.studies.importing import listed
from app.web.params import no_nul
from app.words.language import N_

Name = Annotated[str, Field(max_length=200), AfterValidator(no_nul)]
Number = Annotated[int, Field(ge=0, le=100_000)]


def _plain_lines(text: Any) -> Any:
    """Browsers send two characters for the end of a line."""
    return text.replace("\r\n", "\n").strip() if isinstance(text, str) else text


Lines = Annotated[str, BeforeValidator(_plain_lines), Field(max_length=LONGEST_INSTRUCTIONS), AfterValidator(no_nul)]
Question = Annotated[str, BeforeValidator(_plain_lines), Field(max_length=LONGEST_QUESTION), AfterValidator(no_nul)]
Amount = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
USUAL = FIRST.design


OF_THE_STUDY = {"name", "pilot", "run"}
"""Fields of neither design nor plan."""


class NewStudy(BaseModel):
    """What an administrator typed; the defaults are what the empty form says."""

    name: Name = ""
    pilot: bool = False
    run: list[Name] = []
    """Names of folders in the folder of runs."""
    neurons_per_arm: Number = USUAL.neurons_per_arm
    snippets: Number = USUAL.snippets
    snippet_choice: SnippetChoice = USUAL.snippet_choice
    tokens: Number = USUAL.tokens
    wide_tokens: Number = USUAL.wide_tokens
    rank_shaded_per_arm: Number = USUAL.rank_shaded_per_arm
    seats: Number = USUAL.seats
    verdicts_per_neuron: Number = USUAL.verdicts_per_neuron
    overlap: Number = USUAL.overlap
    overlap_verdicts: Number = USUAL.overlap_verdicts
    mixed_per_arm: Number = USUAL.mixed_per_arm
    directions_per_arm: Number = USUAL.directions_per_arm
    repeats_per_arm: Number = USUAL.repeats_per_arm
    repeat_distance: Number = USUAL.repeat_distance
    practice_items: Number = USUAL.practice_items
    check_snippets: Number = USUAL.check_snippets
    guesses: Number = USUAL.guesses
    unblinders: Number = USUAL.unblinders
    clock_seconds: Number = USUAL.clock_seconds
    clock_end_seconds: Number = USUAL.clock_end_seconds
    instructions: Lines = USUAL.instructions
    question: Question = USUAL_PLAN.question
    baseline: Name = USUAL_PLAN.baseline
    cannot_decide: CannotDecide = USUAL_PLAN.cannot_decide
    version: Version = USUAL_PLAN.version
    late_counts: bool = USUAL_PLAN.late_counts
    surplus_counts: bool = USUAL_PLAN.surplus_counts
    opened_early_counts: bool = USUAL_PLAN.opened_early_counts
    fewest_verdicts: Number = USUAL_PLAN.fewest_verdicts
    most_false_positives: Amount = USUAL_PLAN.most_false_positives
    least_seconds: Amount = USUAL_PLAN.least_seconds
    shuffle: Shuffle = USUAL_PLAN.shuffle
    correction: Correction = USUAL_PLAN.correction
    alpha: Amount = USUAL_PLAN.alpha
    resamples: Number = USUAL_PLAN.resamples

    def design(self) -> Design:
        return Design(**self.model_dump(exclude={*OF_THE_STUDY, *PLANNED}))

    def plan(self) -> Plan:
        try:
            return Plan(**self.model_dump(include=set(PLANNED)))
        except ValueError as error:
            raise Invalid(error.args[0]) from None

    def asked(self) -> Asked:
        return Asked(name=self.name, pilot=self.pilot, runs=tuple(self.run), design=self.design(), plan=self.plan())

    @classmethod
    def of(cls, asked: Asked, folders: Collection[str]) -> Self:
        """The form that asks for this, with those of its runs that can be chosen here."""
        run = [Path(run).name for run in asked.runs if Path(run).name in folders]
        plan = {name: getattr(asked.plan, name) for name in PLANNED}
        design = {name: getattr(asked.design, name) for name in cls.model_fields if name not in {*OF_THE_STUDY, *plan}}
        return cls(name=asked.name, pilot=asked.pilot, run=run, **design, **plan)

    def folders(self, settings: Settings) -> list[Path]:
        """The chosen folders. Only those that are listed, so that no path leads elsewhere."""
        known = {name for name, _ in listed(settings.runs_dir)}
        for name in self.run:
            if name not in known:
                raise Invalid(
                    N_("There is no finished run “%(name)s” in %(folder)s. Choose from the list."),
                    name=name, folder=settings.runs_dir,
                )  # fmt: skip
        return [settings.runs_dir / name for name in self.run]


NewStudyForm = Annotated[NewStudy, Form()]
