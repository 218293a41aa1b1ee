"""What every machine rater said of an unblinded study's items, whoever it is: rules and models in one form."""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.machines.queries import Summary, summary
from app.models import Item, MachineRater, MachineVerdict, Study
from app.studies.rules import Rules, open_rules
from app.words.said import N_

RULES_NAME = N_("Rule rater")


@dataclass(frozen=True)
class Said:
    """One machine rater and its verdicts."""

    code: str
    name: str
    model: str
    """The model's name at its endpoint; empty for the rule rater."""
    verdicts: dict[str, str]
    """By the item's code."""
    hypotheses: dict[str, str]
    """The same, those that are not empty."""
    used: Summary | None = None
    """What the calls came to; None for the rule rater, which makes none."""
    rules: Rules | None = None
    """What the rule rater found besides verdicts; None for a model."""
    settings: dict[str, Any] = field(default_factory=dict)


def said_by_machines(session: Session, study: Study) -> list[Said]:
    """The rule rater first, where the study has one, then the models in the order in which they came in."""
    rules = open_rules(session, study)
    machines = session.scalars(select(MachineRater).where(MachineRater.study_id == study.id).order_by(MachineRater.id))
    return [*([_by_rules(rules)] if rules else []), *(_by_model(session, machine) for machine in machines)]


def _by_rules(rules: Rules) -> Said:
    verdicts = {code: str(rule["verdict"]) for code, rule in rules.items.items()}
    texts = {code: str(rule["hypothesis"]) for code, rule in rules.items.items() if rule["hypothesis"]}
    return Said("rules", RULES_NAME, "", verdicts, texts, rules=rules)


def _by_model(session: Session, machine: MachineRater) -> Said:
    columns = select(Item.code, MachineVerdict.verdict, MachineVerdict.hypothesis)
    mine = columns.join(Item, Item.id == MachineVerdict.item_id).where(MachineVerdict.machine_rater_id == machine.id)
    rows = session.execute(mine.order_by(Item.code)).all()
    return Said(
        machine.code,
        machine.name,
        machine.model,
        {code: verdict.value for code, verdict, _ in rows},
        {code: text for code, _, text in rows if text},
        used=summary(session, machine),
        settings=machine.settings,
    )
