"""A study's snippets and hypotheses in the shape of Neuronpedia's exports: jsonl, a folder a model and a source.

Facts from docs.neuronpedia.org, "Exports": v1/MODEL/SOURCE/activations/batch-0.jsonl and explanations beside it, an
object a line. A source is a layer; an index is text.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Arm, Assignment, Item, ItemKind, OpenedItem, Rater, RaterKind, Study, Verdict
from app.rating.snippets import Shown
from app.reports.exports import File
from app.reports.formats import moment
from app.reports.standing import standing
from app.studies.design import Design
from app.studies.importing import reopened, strongest_of

AUTHOR = "glance"


def neuronpedia_files(session: Session, study: Study) -> Iterator[File]:
    """Every rated neuron of an unblinded study whose runs are still there. Raises Invalid where one is not."""
    said = _hypotheses(session, study)
    for arm in study.arms:
        by_source: dict[int, list[tuple[Item, int]]] = defaultdict(list)
        for item, opened in session.execute(_neurons(study, arm)):
            by_source[opened.layer].append((item, opened.index))
        run, design = reopened(Path(arm.run_path), arm.run_digest), Design.of(study.design)
        for layer, neurons in sorted(by_source.items()):
            where = {"modelId": arm.name, "layer": f"{layer}-glance-{arm.condition}"}
            folder = f"v1/{where['modelId']}/{where['layer']}"
            lines = [
                _activation(where, number, rank, one, study)
                for _, number in neurons
                for rank, one in enumerate(strongest_of(run, layer, number, design))
            ]
            yield File(f"{folder}/activations/batch-0.jsonl", _jsonl(lines))
            texts = [
                _explanation(where, number, at, text, study)
                for item, number in neurons
                for at, text in enumerate(said[item.id])
            ]
            if texts:
                yield File(f"{folder}/explanations/batch-0.jsonl", _jsonl(texts))


def _neurons(study: Study, arm: Arm) -> Any:
    return (
        select(Item, OpenedItem)
        .join(OpenedItem, OpenedItem.item_id == Item.id)
        .where(Item.study_id == study.id, OpenedItem.arm_id == arm.id, Item.kind == ItemKind.NEURON)
        .order_by(OpenedItem.layer, OpenedItem.index)
    )


def _hypotheses(session: Session, study: Study) -> dict[int, list[str]]:
    """What people wrote of items they called interpretable, by the item; a program's words are no explanation."""
    kind = RaterKind.SIMULATED if study.simulated else RaterKind.HUMAN
    found: dict[int, list[str]] = defaultdict(list)
    statement = (
        standing(study)
        .join(Rater, Rater.id == Assignment.rater_id)
        .where(Rater.study_id == study.id, Rater.kind == kind)
    )
    for rating, assignment in session.execute(statement.order_by(Rater.code, Assignment.position)):
        if rating.verdict == Verdict.INTERPRETABLE and rating.hypothesis.strip():
            found[assignment.item_id].append(rating.hypothesis.strip())
    return found


def _activation(where: dict[str, str], number: int, rank: int, one: Shown, study: Study) -> dict[str, Any]:
    values = [round(float(value), 5) for value in one.activations]
    return {
        "id": _id(study, where, number, rank),
        **where,
        "index": str(number),
        "tokens": [text.decode(errors="replace") for text in one.texts],
        "values": values,
        "maxValue": values[one.peak],
        "maxValueTokenIndex": one.peak,
        "minValue": min(values),
        "createdAt": moment(study.created_at),
        "creatorId": AUTHOR,
    }


def _explanation(where: dict[str, str], number: int, at: int, text: str, study: Study) -> dict[str, Any]:
    return {
        "id": _id(study, where, number, at),
        **where,
        "index": str(number),
        "description": text,
        "authorId": AUTHOR,
        "typeName": "simulated" if study.simulated else "human",
        "explanationModelName": None,
    }


def _id(study: Study, where: dict[str, str], number: int, at: int) -> str:
    """Replicate models share a condition, and studies share models: only all of it names one line."""
    return f"glance-{study.code}-{where['modelId']}-{where['layer']}-{number}-{at}"


def _jsonl(lines: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines).encode()
