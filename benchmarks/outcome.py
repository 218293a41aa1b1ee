"""What a benchmark says."""

import json
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    name: str
    ratio: float
    target: float
    ok: bool
    detail: dict[str, Any]
    """What was measured, with units in the names."""

    def line(self) -> str:
        return json.dumps(asdict(self), allow_nan=False)
