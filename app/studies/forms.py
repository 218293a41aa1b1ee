"""The form of a new study, as the browser sends it."""

from pathlib import Path
from typing import Annotated

from fastapi import Form
from pydantic import AfterValidator, BaseModel, Field

from app.errors import Invalid
from app.params import no_nul
from app.settings import Settings
from app.studies.design import Design
from app.studies.importing import listed

Name = Annotated[str, Field(max_length=200), AfterValidator(no_nul)]
Number = Annotated[int, Field(ge=0, le=100_000)]
SHOWN_SNIPPETS = 20


class NewStudy(BaseModel):
    """What an administrator typed; the defaults are what the empty form says."""

    name: Name = ""
    run: list[Name] = []
    """Names of folders in the folder of runs."""
    neurons_per_arm: Number = 60
    snippets: Number = SHOWN_SNIPPETS
    seats: Number = 3
    verdicts_per_neuron: Number = 1
    overlap: Number = 20
    overlap_verdicts: Number = 0
    mixed_per_arm: Number = 0
    repeats_per_arm: Number = 0

    def design(self) -> Design:
        return Design(**self.model_dump(exclude={"name", "run"}))

    def folders(self, settings: Settings) -> list[Path]:
        """The chosen folders. Only those that are listed, so that no path leads elsewhere."""
        known = {name for name, _ in listed(settings.runs_dir)}
        for name in self.run:
            if name not in known:
                raise Invalid(f"There is no finished run “{name}” in {settings.runs_dir}. Choose from the list.")
        return [settings.runs_dir / name for name in self.run]


NewStudyForm = Annotated[NewStudy, Form()]
