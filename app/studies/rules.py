"""What the rule rater says of a study's neurons: read from the runs when it is created, and sealed until unblinding.

It is encrypted under a key made from the secret of the draw, so it opens with the secret and not before, and whoever
has an export can open it too. The digest of what was encrypted is in the first line of the study's log: the rules
were there before the first verdict, and nobody could fit them to what people said.
"""

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.orm import Session

from app.errors import Conflict
from app.key import decrypt, encrypt, padded
from app.models import SealedRules, Study
from app.studies.draw import DrawnItem
from app.studies.freezing import Frozen
from app.studies.importing import Arm
from app.studies.seal import canonical
from app.words.said import N_

YES = "INTERPRETABLE"


@dataclass(frozen=True)
class Rules:
    """The opened rules of a study."""

    arms: list[dict[str, Any]]
    """For each arm of the study's list, over all its neurons that can be shown: judged, interpretable, by_kind,
    settings, and the digest of the file they are from."""
    items: dict[str, dict[str, Any]]
    """For each item of kind neuron, by its code: verdict, rule, kind, covered, of, base_rate, hypothesis."""


def seal_rules(session: Session, study: Study, frozen: Frozen) -> str | None:
    """Write the rules down if every run has some. Returns the digest for the log, None where there are none."""
    found = rules_of(frozen.arms, frozen.allocation.items)
    if found is None:
        return None
    sealed = encrypt(_key(frozen.secret), _written(found), _context(study))
    row = SealedRules(study_id=study.id, sealed=sealed, digest=hashlib.sha256(sealed).hexdigest())
    session.add(row)
    return row.digest


def open_rules(session: Session, study: Study) -> Rules | None:
    """The rules of an unblinded study, None where it has none. Raises Conflict where they are not those sealed."""
    row = session.get(SealedRules, study.id)
    if row is None or study.secret is None:
        return None
    if hashlib.sha256(row.sealed).hexdigest() != row.digest:
        raise Conflict(N_("The rules of the rule rater are not those that were sealed: the database was changed."))
    return _read(decrypt(_key(bytes.fromhex(study.secret)), row.sealed, _context(study)))


def rules_of(arms: Sequence[Arm], items: Iterable[DrawnItem]) -> Rules | None:
    """The rules of the drawn neurons, and what they come to in each arm; None where a run has none."""
    read = [rules for arm in arms if (rules := arm.run.rules()) is not None]
    if len(read) < len(arms):
        return None
    summaries = [
        {
            "judged": len(rules.units),
            "interpretable": sum(unit.verdict == YES for unit in rules.units),
            "by_kind": dict(sorted(Counter(unit.kind for unit in rules.units if unit.verdict == YES).items())),
            "settings": rules.settings,
            "digest": rules.digest,
        }
        for rules in read
    ]
    units = [{unit.unit: asdict(unit) for unit in rules.units} for rules in read]
    found = {}
    for item in items:
        if item.kind == "neuron":
            row = arms[item.unit.arm].rows["neuron"][item.unit.layer, item.unit.number]
            rule = units[item.unit.arm].get(int(row))
            if rule is not None:
                found[item.code] = {name: value for name, value in rule.items() if name != "unit"}
    return Rules(summaries, found)


def _written(rules: Rules) -> bytes:
    """A line an item, all of one length, after a line for the arms: a length tells nothing of an arm."""
    lines = [canonical([code, rules.items[code]]) for code in sorted(rules.items)]
    return b"\n".join([canonical(rules.arms), *(padded(lines) if lines else [])])


def _read(text: bytes) -> Rules:
    arms, *lines = text.split(b"\n")
    return Rules(json.loads(arms), dict(map(json.loads, lines)))


def _key(secret: bytes) -> bytes:
    return hmac.digest(secret, b"the rules of the rule rater", "sha256")


def _context(study: Study) -> str:
    return f"rules {study.code}"
