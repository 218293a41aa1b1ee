"""A small, valid run folder with text that looks like text, for tests that need one and no model.

The documents, their tokens and the vocabulary are the same in every run, so that runs are comparable;
the activations differ with the condition and the seed. Shapes: V vocabulary, D documents, C contexts,
T tokens, U units, K kept.
"""

import functools
import hashlib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model_runner.run.arrays import ROW, STATES, UNIT
from model_runner.run.folder import Run, open_run
from model_runner.run.info import RunInfo
from model_runner.run.writer import SectionArrays, Vocabulary, write_run
from tests.texts import CODE, ODD, PROSE

BOS = 0
DOCUMENTS = 90
BANDS = range(6)
ALWAYS_PRESENT = {"ok": 0, "dead": 1, "too_few": 2, "never_positive": 3}
"""The index, in every layer, of a neuron that is certainly in this state (never_positive: gelu alone)."""


class Context(NamedTuple):
    document: int
    start: int
    tokens: tuple[int, ...]
    first: bool
    last: bool


def make_run(
    folder: Path,
    condition: str = "gelu",
    layers: int = 2,
    hidden: int = 32,
    kept: int = 20,
    seed: int = 0,
    *,
    window: int = 64,
    split: str = "collect",
    size: int | None = None,
    name: str | None = None,
    directions: int = 0,
    bands: bool = False,
    seldom: Collection[int] = (),
    **changes: Any,
) -> Run:
    """Write a run folder and open it. `changes` replace fields of its RunInfo.

    `seldom` are the indices, in every layer, of further neurons that answer to too few contexts.
    """
    contexts = _contexts(window)
    rng = np.random.default_rng([seed, *condition.encode()])
    places = [(*divmod(unit, hidden), 0) for unit in range(layers * hidden)]
    places += [(*divmod(unit, directions), 1) for unit in range(layers * directions)]
    units, everything = np.zeros(len(places), UNIT), []
    for unit, (layer, index, kind) in enumerate(places):
        state, ranked = _collect(
            rng, condition, ALWAYS_PRESENT["too_few"] if index in seldom else -1 if kind else index, contexts, kept
        )
        units[unit] = (layer, kind, index, STATES.index(state), min(len(ranked), kept))
        everything.append(ranked)
    parts = [ranked[:kept] for ranked in everything]
    with_norm = condition.endswith("_ln")
    values: dict[str, Any] = {
        "name": name or f"{condition}-{seed}",
        "condition": condition,
        "size": size or layers * 12 * (hidden // 4) ** 2,
        "seed": seed,
        "layers": layers,
        "hidden": hidden,
        "validation_loss": 4.3,
        "train_tokens": 2_000_000,
        "checkpoint_digest": hashlib.sha256(f"{condition} {seed} {layers} {hidden}".encode()).hexdigest(),
        "activation_point": "before_norm" if with_norm else "only",
        "corpus_digest": "c0" * 32,
        "tokenizer_digest": "70" * 32,
        "split": split,
        "window": window,
        "kept": kept,
        "parts": ["prose-en", "code"],
        "exclusions": ["the first position of each context", "special tokens"],
        "sections": [],
        "sources": [{"name": "Sentences for tests", "licence": "Apache-2.0", "parts": ["prose-en", "code"]}],
        "specials": [BOS],
        "directions": directions,
        "directions_seed": 5 if directions else None,
        "settings": {},
        "collected_documents": DOCUMENTS,
        "collected_tokens": sum(len(context.tokens) - 1 for context in contexts),
    }
    vocabulary = Vocabulary(*_vocabulary_arrays())
    sections = {"top": _section(parts, with_norm)}
    if bands:
        sections |= {
            f"band-{band}": _section([_band(ranked, band) for ranked in everything], with_norm) for band in BANDS
        }
    write_run(folder, RunInfo(**values | changes), units, sections, vocabulary)
    return open_run(folder)


# ---- text and tokens ----------------------------------------------------------------------------


@functools.cache
def _vocabulary() -> tuple[bytes, ...]:
    texts = (*PROSE, *CODE, *ODD)
    words = sorted({piece for text in texts for piece in _pieces(text) + _pieces(f" {text}")})
    return (b"", *(bytes([byte]) for byte in range(256)), *(word for word in words if len(word) > 1))


def _vocabulary_arrays() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    vocabulary = _vocabulary()
    offsets = np.cumsum([0, *map(len, vocabulary)], dtype=np.int64)
    return np.frombuffer(b"".join(vocabulary), np.uint8), offsets


def _pieces(text: str) -> list[bytes]:
    """Words with their space, halves of long words, and non-Latin characters a byte or two at a time."""
    out = []
    for piece in re.findall(r" ?[A-Za-z]+| ?[0-9]{1,3}|\n *|[^\S\n]|[^\sA-Za-z0-9]", text):
        encoded = piece.encode()
        cut = 2 if not piece.isascii() else 7
        out += [encoded[at : at + cut] for at in range(0, len(encoded), cut)]
    return out


@functools.cache
def documents() -> tuple[tuple[int, ...], ...]:
    """Token ids of every document, the beginning-of-text token left out."""
    ids = {piece: number for number, piece in enumerate(_vocabulary())}
    rng = np.random.default_rng(7)
    out = []
    for number in range(DOCUMENTS):
        texts = (PROSE, CODE, (*PROSE, *ODD), ODD)[number % 4]
        chosen = rng.choice(len(texts), 1 if texts is ODD else rng.integers(2, 8))
        text = ("" if texts is CODE else " ").join(texts[i] for i in chosen)
        out.append(tuple(ids[piece] for piece in _pieces(text)))
    return tuple(out)


@functools.cache
def _contexts(window: int) -> tuple[Context, ...]:
    """Every document cut in contexts of `window` tokens, each with the beginning-of-text token in front."""
    room, out = window - 1, []
    for number, tokens in enumerate(documents()):
        for start in range(0, len(tokens), room):
            part = tokens[start : start + room]
            out.append(Context(number, start, (BOS, *part), start == 0, start + room >= len(tokens)))
    return tuple(out)


# ---- activations --------------------------------------------------------------------------------


class Kept(NamedTuple):
    """One snippet before it is written."""

    context: Context
    activations: NDArray[np.float32]
    peak: int


def _collect(
    rng: np.random.Generator, condition: str, index: int, contexts: tuple[Context, ...], kept: int
) -> tuple[str, list[Kept]]:
    state = next((name for name, place in ALWAYS_PRESENT.items() if place == index), "ok")
    if state == "never_positive" and condition != "gelu":
        state = "ok"
    if state == "dead":
        return state, []
    activations = _activations(rng, condition, contexts)
    if state == "never_positive":
        activations = [-np.abs(array) - np.float32(1e-4) for array in activations]
    best = _best(contexts, activations)
    if state == "too_few":
        best = best[: kept // 3]
    return ("too_few" if state == "ok" and len(best) < kept else state), best


def _band(ranked: list[Kept], band: int) -> list[Kept]:
    """A sixth of what a unit answered to, as if that were an octave; the first band begins among the strongest."""
    width = len(ranked) // len(BANDS)
    return ranked[band * width : (band + 1) * width]


def _activations(rng: np.random.Generator, condition: str, contexts: tuple[Context, ...]) -> list[NDArray[np.float32]]:
    """Noise, and a strong answer to a few words: dense and partly negative, or sparse where it is SoLU's."""
    sparse = condition.startswith("solu")
    favour_V = np.zeros(len(_vocabulary()))
    seen = np.unique([token for context in contexts for token in context.tokens[1:]])
    liked = rng.choice(seen, 2 if sparse else 12, replace=False)
    favour_V[liked] = rng.uniform(1, 4, len(liked))
    out = []
    for context in contexts:
        favour_T = favour_V[list(context.tokens)] * rng.uniform(0.6, 1.4, len(context.tokens))
        noise_T = rng.normal(0, 0.5, len(context.tokens))
        if sparse:
            values_T = 1e-3 * np.abs(noise_T) + favour_T
        else:
            values_T = (favour_T + noise_T) / (1 + np.exp(-1.7 * (favour_T + noise_T)))
        out.append(values_T.astype(np.float32))
    return out


def _best(contexts: tuple[Context, ...], activations: list[NDArray[np.float32]]) -> list[Kept]:
    """One snippet a document, highest first, equal ones by document."""
    of_document: dict[int, Kept] = {}
    for context, values_T in zip(contexts, activations, strict=True):
        candidate = Kept(context, values_T, int(values_T[1:].argmax()) + 1)
        rival = of_document.get(context.document)
        if rival is None or values_T[candidate.peak] > rival.activations[rival.peak]:
            of_document[context.document] = candidate
    return sorted(of_document.values(), key=lambda k: (-k.activations[k.peak], k.context.document))


def _section(parts: list[list[Kept]], with_norm: bool) -> SectionArrays:
    flat = [kept for part in parts for kept in part]
    lengths = [len(kept.activations) for kept in flat]
    rows = np.zeros(len(flat), ROW)
    rows["at"] = np.cumsum([0, *lengths])[:-1]
    for row, kept in zip(rows, flat, strict=True):
        row["length"], row["peak"] = len(kept.activations), kept.peak
        row["value"] = kept.activations[kept.peak]
        row["document"], row["start"] = kept.context.document, kept.context.start
        row["document_start"], row["document_end"] = kept.context.first, kept.context.last
        row["collapsed"] = 3 if kept.context.document % 17 == 0 else 0
    activations = np.concatenate([kept.activations for kept in flat])
    return SectionArrays(
        offsets=np.cumsum([0, *map(len, parts)], dtype=np.int64),
        snippets=rows,
        tokens=np.concatenate([np.array(kept.context.tokens, np.uint16) for kept in flat]),
        activations=activations,
        after_norm=(activations - np.float32(0.1)) * np.float32(3) if with_norm else None,
    )
