"""A corpus of several kinds of text, and a run folder whose neurons fire where a test says so.

Shapes: T tokens of a context.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from model_runner.corpus.store import Corpus
from model_runner.rules.matching import Site
from model_runner.run.arrays import ROW, STATES, UNIT
from model_runner.run.folder import Run, open_run
from model_runner.run.writer import SectionArrays, Vocabulary, write_run
from tests.corpora import make_corpus
from tests.runs import make_run

Plant = Callable[[Site, np.random.Generator], float]
"""How strongly a neuron fires at a token."""
WORDS = (
    "river", "stone", "walks", "quietly", "beyond", "seven", "green", "lamps", "where", "nobody", "sings", "about",
    "winter", "bread", "and", "small", "boats", "under", "old", "bridge", "with", "paper", "clouds", "never",
    "tells", "of", "long", "roads", "again",
)  # fmt: skip
CYRILLIC = ("река", "камень", "тихо", "идёт", "зимой", "хлеб", "лодка", "песня", "никто", "дом")
WINDOW, KEPT = 32, 20


def mixed_corpus(folder: Path, documents: int = 240) -> Corpus:
    """Documents of plain words; one in four has numbers, one in eight Cyrillic, all have some “the” in them."""
    rng = np.random.default_rng(5)
    return make_corpus(
        folder, [_text(rng, number) for number in range(documents)], vocabulary=600, shares={"collect": 1}
    )


def _text(rng: np.random.Generator, number: int) -> str:
    words: list[str] = rng.choice(WORDS, 60).tolist()
    for at in range(3, 60, 28):
        words[at] = "the"
    if number % 4 == 0:
        words[10:30:10] = [str(n) for n in rng.integers(100, 99_999, 2)]
    if number % 6 == 2:
        words[44:46] = ["old", "lamps"]
    if number % 8 == 1:
        words[12:36:8] = rng.choice(CYRILLIC, 3).tolist()
    return " ".join([*words[:30], "\n" + words[30], *words[31:]])


def planted_run(folder: Path, corpus: Corpus, plants: Sequence[Plant], condition: str = "gelu") -> Run:
    """A run of one layer over the corpus, a neuron a plant."""
    model = make_run(folder, condition, layers=1, hidden=32)  # for what a RunInfo has besides
    info = dataclasses.replace(
        model.info, hidden=len(plants), window=WINDOW, kept=KEPT, corpus_digest=corpus.info.digest,
        tokenizer_digest=corpus.info.tokenizer_digest, parts=list(corpus.info.parts), specials=[corpus.info.bos],
    )  # fmt: skip
    rng = np.random.default_rng(9)
    neurons = [_collected(corpus, plant, rng) for plant in plants]
    units = np.zeros(len(plants), UNIT)
    for index, rows in enumerate(neurons):
        state = STATES.index("ok" if len(rows) == KEPT else "too_few")
        units[index] = (0, 0, index, state, len(rows))
    vocabulary = Vocabulary(np.array(corpus.token_bytes_flat), np.array(corpus.token_offsets))
    write_run(folder, info, units, {"top": _section(neurons)}, vocabulary)
    return open_run(folder)


def sites_of(corpus: Corpus, document: int) -> list[list[Site]]:
    """The tokens of a document, context by context, as a model sees them."""
    texts = [corpus.token_bytes(int(token)) for token in corpus.document_tokens(document)]
    room = WINDOW - 1
    return [
        [Site(texts[at], texts[at - 1] if at > start else None, at, at - start) for at in range(start, end)]
        for start in range(0, len(texts), room)
        for end in [min(start + room, len(texts))]
    ]


Kept = tuple[int, int, np.ndarray, np.ndarray, int]


def _collected(corpus: Corpus, plant: Plant, rng: np.random.Generator) -> list[Kept]:
    """The context of each document in which the neuron fires most, the strongest first."""
    best: list[Kept] = []
    for document in range(corpus.info.documents):
        contexts = sites_of(corpus, document)
        values = [np.array([0.0, *(plant(site, rng) for site in sites)], np.float32) for sites in contexts]
        strongest = max(range(len(values)), key=lambda at: float(values[at].max()))
        start = strongest * (WINDOW - 1)
        tokens_T = np.array([corpus.info.bos, *corpus.document_tokens(document)[start : start + WINDOW - 1]], np.uint16)
        best.append((document, start, tokens_T, values[strongest], int(values[strongest][1:].argmax()) + 1))
    best.sort(key=lambda one: -one[3][one[4]])
    return [one for one in best if one[3][one[4]] > 0][:KEPT]


def _section(neurons: list[list[Kept]]) -> SectionArrays:
    flat = [kept for rows in neurons for kept in rows]
    rows = np.zeros(len(flat), ROW)
    rows["at"] = np.cumsum([0, *(len(kept[2]) for kept in flat)])[:-1]
    for row, (document, start, tokens_T, values_T, peak) in zip(rows, flat, strict=True):
        row["length"], row["peak"], row["value"] = len(tokens_T), peak, values_T[peak]
        row["document"], row["start"], row["document_start"] = document, start, start == 0
    return SectionArrays(
        offsets=np.cumsum([0, *map(len, neurons)], dtype=np.int64),
        snippets=rows,
        tokens=np.concatenate([kept[2] for kept in flat]),
        activations=np.concatenate([kept[3] for kept in flat]),
    )


def fires_where(holds: Callable[[Site], bool]) -> Plant:
    """Strongly where it holds, weakly and at random elsewhere."""
    return lambda site, rng: float(rng.uniform(0.8, 1.0) if holds(site) else rng.uniform(0.0, 0.4))


def at_random(_: Site, rng: np.random.Generator) -> float:
    return float(rng.uniform(0.0, 1.0))
