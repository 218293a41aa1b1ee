"""A text through one model: its tokens, and what the asked neurons do at each of them."""

# Shape suffixes: T tokens, BOS included; F neurons of a layer; N asked neurons.
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor

from model_runner import tokenizer as bpe
from model_runner.errors import RunnerError
from model_runner.subject import Subject, load_subject
from model_runner.words import counted

TOKENIZER = "tokenizer.json"


@dataclass(frozen=True)
class Neuron:
    """A hidden unit, counted from 0."""

    layer: int
    index: int


@dataclass(frozen=True)
class Served:
    """A model that texts can be given to."""

    name: str
    subject: Subject
    tokenizer: Tokenizer
    table: list[bytes]
    """What each token id stands for."""
    bos: int


def load_served(folder: Path, tokenizer: Path | None = None) -> Served:
    """Load a checkpoint with the tokenizer beside it, or the one given; its name is the folder's.

    Raises RunnerError when the model cannot be read, has no tokenizer, or was trained with another.
    """
    file = folder / TOKENIZER if (folder / TOKENIZER).is_file() else tokenizer
    if file is None:
        raise RunnerError(f"{folder} holds no {TOKENIZER}. Give the one of its corpus with --tokenizer.")
    subject, loaded = load_subject(folder), bpe.load_tokenizer(file)
    if bpe.digest(loaded) != subject.about.tokenizer_digest:
        raise RunnerError(
            f"{folder} was trained with tokenizer {subject.about.tokenizer_digest[:12]}, and {file} is "
            f"{bpe.digest(loaded)[:12]}. Give the one of its corpus with --tokenizer."
        )
    return Served(folder.resolve().name, subject, loaded, bpe.token_bytes(loaded), bpe.bos_id(loaded))


def describe(served: Served) -> dict[str, Any]:
    """What a client may want to know of a model before it asks."""
    about = served.subject.about
    return {
        "name": served.name,
        "condition": about.condition,
        "layers": about.layers,
        "neurons": about.hidden,
        "tokens": about.context - 1,
        "digest": served.subject.digest,
        "tokenizer_digest": about.tokenizer_digest,
        "activation_point": _point(served),
    }


def answer(served: Served, text: str, neurons: Sequence[Neuron]) -> dict[str, Any]:
    """The text's tokens, BOS first, each with its place in the text's UTF-8 bytes, and activations at each.

    `after_norm` is there for a layer with a post-activation LayerNorm. What is not finite is null. Raises
    RunnerError for a text that is empty or too long, and for a neuron that does not exist.
    """
    _refuse_unknown(served, neurons)
    ids = _ids(served, text)
    read_T = torch.tensor([[served.bos, *ids]], device=served.subject.model.device)
    return {
        "model": served.name,
        "digest": served.subject.digest,
        "activation_point": _point(served),
        "tokens": _tokens(served, ids),
        "neurons": _activations(served, read_T, neurons),
    }


def _point(served: Served) -> str:
    return "only" if served.subject.model.norms[0] is None else "before_norm"


def _refuse_unknown(served: Served, neurons: Sequence[Neuron]) -> None:
    about = served.subject.about
    for one in neurons:
        if not (0 <= one.layer < about.layers and 0 <= one.index < about.hidden):
            raise RunnerError(
                f"{served.name} has layers 0 to {about.layers - 1} of neurons 0 to {about.hidden - 1}, and no neuron "
                f"{one.index} in layer {one.layer}."
            )


def _ids(served: Served, text: str) -> list[int]:
    ids: list[int] = served.tokenizer.encode(text, add_special_tokens=False).ids
    room = served.subject.about.context - 1
    if not ids:
        raise RunnerError("The text is empty; write something.")
    if len(ids) > room:
        raise RunnerError(
            f"The text has {counted(len(ids), 'token')} and {served.name} reads {room:,} at a time. Shorten it."
        )
    if b"".join(served.table[number] for number in ids) != text.encode():
        raise RunnerError("The model's tokenizer changes this text, so its tokens have no place in it. Change it.")
    return ids


def _tokens(served: Served, ids: list[int]) -> list[dict[str, int]]:
    tokens, at = [{"id": served.bos, "start": 0, "end": 0}], 0
    for number in ids:
        end = at + len(served.table[number])
        tokens.append({"id": number, "start": at, "end": end})
        at = end
    return tokens


@torch.inference_mode()
def _activations(served: Served, read_T: Tensor, neurons: Sequence[Neuron]) -> list[dict[str, Any]]:
    """Nothing past the last layer that is asked for is computed."""
    model = served.subject.model
    found: dict[Neuron, dict[str, Any]] = {}
    deepest = max((neuron.layer for neuron in neurons), default=-1)
    for layer, acts_1TF in enumerate(model.activations(read_T, deepest + 1) if neurons else ()):
        norm = model.norms[layer]
        asked = [neuron for neuron in neurons if neuron.layer == layer]
        after_TF = norm(acts_1TF)[0].float() if norm is not None and asked else None
        for neuron in asked:
            found[neuron] = {"layer": layer, "index": neuron.index, "activations": _numbers(acts_1TF[0], neuron)}
            if after_TF is not None:
                found[neuron]["after_norm"] = _numbers(after_TF, neuron)
    return [found[neuron] for neuron in neurons]


def _numbers(acts_TF: Tensor, neuron: Neuron) -> list[float | None]:
    values: list[float] = acts_TF[:, neuron.index].float().tolist()
    return [value if math.isfinite(value) else None for value in values]
