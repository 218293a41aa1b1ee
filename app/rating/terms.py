"""Under which terms raters take part. An administrator may change them while a study runs. Needs no database."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What `study.terms` holds. Nothing in it touches what is drawn and sealed."""

    day_goal: int | None = None
    """So many verdicts a rater are hoped for in a day; it stops nobody."""
    most_a_day: int | None = None
    """After so many verdicts in a day (UTC) a rater is given nothing more until the next."""
    most_raters: int | None = None
    """So many may be in at once."""
    person_name: str = "PROLIFIC_PID"
    """What a panel calls the person, its study and its session in the address of a link."""
    study_name: str = "STUDY_ID"
    session_name: str = "SESSION_ID"
    completion_code: str = ""
    """Shown to raters who have done everything; empty for none."""
    own_codes: bool = False
    """Each rater's code ends in letters of their own."""
    return_address: str = ""
    """Where raters who have done everything go back to the panel; empty for nowhere."""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        return cls(**stored)

    def stored(self) -> dict[str, Any]:
        """Without what is as usual, so that a study without terms holds nothing."""
        usual = asdict(type(self)())
        return {name: value for name, value in asdict(self).items() if value != usual[name]}
