"""The form of a new study, as the browser sends it."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Self

from fastapi import Form
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from app.errors import Invalid
from app.params import no_nul
from app.settings import Settings
from app.studies.asked import FIRST, Asked
from app.studies.design import LONGEST_INSTRUCTIONS, Design, SnippetChoice
from app.studies.importing import listed

Name = Annotated[str, Field(max_length=200), AfterValidator(no_nul)]
Number = Annotated[int, Field(ge=0, le=100_000)]


def _plain_lines(text: Any) -> Any:
    """Browsers send two characters for the end of a line."""
    return text.replace("\r\n", "\n").strip() if isinstance(text, str) else text


Lines = Annotated[str, BeforeValidator(_plain_lines), Field(max_length=LONGEST_INSTRUCTIONS), AfterValidator(no_nul)]
USUAL = FIRST.design


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

    def design(self) -> Design:
        return Design(**self.model_dump(exclude={"name", "pilot", "run"}))

    def asked(self) -> Asked:
        return Asked(name=self.name, pilot=self.pilot, runs=tuple(self.run), design=self.design())

    @classmethod
    def of(cls, asked: Asked, folders: Collection[str]) -> Self:
        """The form that asks for this, with those of its runs that can be chosen here."""
        run = [Path(run).name for run in asked.runs if Path(run).name in folders]
        design = {
            name: getattr(asked.design, name) for name in cls.model_fields if name not in ("name", "pilot", "run")
        }
        return cls(name=asked.name, pilot=asked.pilot, run=run, **design)

    def folders(self, settings: Settings) -> list[Path]:
        """The chosen folders. Only those that are listed, so that no path leads elsewhere."""
        known = {name for name, _ in listed(settings.runs_dir)}
        for name in self.run:
            if name not in known:
                raise Invalid(f"There is no finished run “{name}” in {settings.runs_dir}. Choose from the list.")
        return [settings.runs_dir / name for name in self.run]


NewStudyForm = Annotated[NewStudy, Form()]
