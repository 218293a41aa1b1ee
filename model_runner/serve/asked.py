"""What a client of the model service asks, read from the body of its request and checked."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from model_runner.serve.answer import Neuron

MOST_BYTES = 65_536
MOST_NEURONS = 256
FIELDS = frozenset({"model", "text", "neurons"})


class Refusal(Exception):
    """A request that is not answered: an HTTP status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


@dataclass(frozen=True)
class Asked:
    """A request that can be answered, but for neurons that the model does not have."""

    model: str
    text: str
    neurons: list[Neuron]


def read_asked(body: bytes, models: Collection[str]) -> Asked:
    """Read {"model": …, "text": …, "neurons": [[layer, index], …]}; of one model the name may be left out.

    Raises Refusal: 400 for what is no such object, 404 for a model that is not served, 422 for wrong values.
    """
    given = _object(body)
    model = given.get("model", next(iter(models)) if len(models) == 1 else None)
    if model is None:
        raise Refusal(422, f'Several models are served; say which in "model": {", ".join(models)}.')
    if not isinstance(model, str) or model not in models:
        raise Refusal(404, f"No model {str(model)[:80]!r} is served; there are {', '.join(models)}.")
    return Asked(model, _text(given.get("text")), _neurons(given.get("neurons")))


def _object(body: bytes) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"The body is not JSON: {str(error)[:200]}.") from error
    if not isinstance(given, dict):
        raise Refusal(400, 'The body is no JSON object. Send {"model": …, "text": …, "neurons": [[layer, index], …]}.')
    unknown = sorted(given.keys() - FIELDS)
    if unknown:
        raise Refusal(400, f"There is no field {unknown[0][:80]!r}; there are {', '.join(sorted(FIELDS))}.")
    return given


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise Refusal(422, 'The field "text" must be a text.')
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refusal(422, "The text holds half of a surrogate pair, which is no character. Take it out.") from error
    return text


def _neurons(given: object) -> list[Neuron]:
    if not isinstance(given, list) or not all(_is_pair(one) for one in given):
        raise Refusal(422, 'The field "neurons" must be a list of pairs [layer, index] of whole numbers.')
    if len(given) > MOST_NEURONS:
        raise Refusal(422, f"{len(given):,} neurons are asked for; {MOST_NEURONS} can be answered at a time.")
    return [Neuron(*one) for one in given]


def _is_pair(one: object) -> bool:
    return isinstance(one, list) and len(one) == 2 and all(type(number) is int for number in one)
