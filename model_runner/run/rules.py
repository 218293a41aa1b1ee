"""The rules of a run folder: for each unit the simplest rule for its peaks, as a rule rater found it. Reads them.

They lie in one file of their own, because they say something about a run and are not of it:
a study has sealed the run's digest, and a rule rater that comes later must not change it. The file names the
digest of the run it is about and ends with its own. Format 1.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from model_runner.record import Unfit, object_in, record_of
from model_runner.run.error import RunFolderError

FORMAT = 1
RULES_NAME = "rules.json"
RuleVerdict = Literal["INTERPRETABLE", "NOT_INTERPRETABLE"]
RuleKind = Literal["token", "tokens", "pattern", "script", "previous", "place", "joined", "none"]


@dataclass(frozen=True, kw_only=True)
class UnitRule:
    """What the rule rater says of one unit."""

    unit: int
    """Its row in the run's units."""
    verdict: RuleVerdict
    """INTERPRETABLE where the rule covers enough of the peaks and is rare elsewhere."""
    rule: str
    """In the grammar of `rules/grammar.py`. Of a unit that is not interpretable the nearest there is, perhaps none."""
    kind: RuleKind
    """What it is about; "none" where there is no rule at all."""
    covered: int
    """Peaks at which it holds."""
    of: int
    """Peaks that were looked at."""
    base_rate: float
    """The share of a random sample of the corpus' tokens at which it holds."""
    hypothesis: str
    """The rule as a sentence; empty where the unit is not interpretable."""


@dataclass(frozen=True, kw_only=True)
class RunRules:
    """What rules.json says."""

    run_digest: str
    """The run it is about."""
    settings: dict[str, Any]
    """What the result depends on: share to cover, highest base rate, tokens in a rule, size and seed of the sample."""
    units: list[UnitRule]
    """Units that were judged, in the order of the run's; units that cannot be shown are left out."""
    format: int = FORMAT
    digest: str = ""
    """SHA-256 over everything else in the file."""

    @property
    def fraction(self) -> float | None:
        """The interpretable share of the units that were judged, None where there are none."""
        if not self.units:
            return None
        return sum(unit.verdict == "INTERPRETABLE" for unit in self.units) / len(self.units)


def rules_digest(content: Mapping[str, Any]) -> str:
    """SHA-256 over everything in rules.json except the digest itself."""
    text = json.dumps({**content, "digest": ""}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read_rules(folder: Path, run_digest: str, units: int) -> RunRules | None:
    """The rules that lie in a run folder, None where there are none.

    Raises RunFolderError where they are damaged, of an unknown format, or of another run.
    """
    path = folder / RULES_NAME
    raw = _read(path)
    if raw is None:
        return None
    remedy = f"Delete {path} and run `glance-runner rules` again."
    if raw.get("format") != FORMAT:
        raise RunFolderError(
            f"{path} has format {raw.get('format')!r}, and this program reads format {FORMAT}. {remedy}"
        )
    rules = _rules(path, raw, remedy)
    if rules_digest(raw) != rules.digest:
        raise RunFolderError(f"{path} was changed after it was written. {remedy}")
    if rules.run_digest != run_digest:
        raise RunFolderError(f"{path} is about another run, {rules.run_digest[:12]}. {remedy}")
    rows = [unit.unit for unit in rules.units]
    if rows != sorted(set(rows)) or any(not 0 <= row < units for row in rows):
        raise RunFolderError(f"{path} names units twice, out of order, or that the run does not have. {remedy}")
    return rules


def as_json(rules: RunRules) -> dict[str, Any]:
    """What rules.json holds."""
    return asdict(rules)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return object_in(path.read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        raise RunFolderError(
            f"{path} cannot be read: {error}. Delete it and run `glance-runner rules` again."
        ) from None


def _rules(path: Path, raw: dict[str, Any], remedy: str) -> RunRules:
    """The record, with no field too few or too many, or of another type."""
    try:
        return record_of(RunRules, raw)
    except Unfit as error:
        raise RunFolderError(f"{path} {error}. {remedy}") from None
