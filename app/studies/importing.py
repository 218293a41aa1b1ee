"""Reading run folders: what they offer to a draw, and the snippets of the items that were drawn."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import Invalid
from app.rating.snippets import Reach, Shown, on_each_side
from app.studies import spectrum
from app.studies.design import Design
from app.studies.draw import OF_DIRECTIONS, SHOWN, DrawnItem
from app.words.said import N_, Quoted, Said
from model_runner.run.arrays import KINDS, STATES
from model_runner.run.error import RunFolderError
from model_runner.run.folder import Run, Snippet, open_run
from model_runner.run.info import RunInfo, comparable

SPLIT = "collect"
OTHER_SPLITS = ("practice", "check")
"""Splits of which a study may have a run of each model beside the one whose neurons are rated."""
LETTERS = {"ok": SHOWN, "dead": "d", "never_positive": "n", "too_few": "f", "not_finite": "x"}
"""How an offer spells the state of a neuron."""
FEW = LETTERS["too_few"]


@dataclass(frozen=True)
class Arm:
    """A run folder as an arm of a study."""

    run: Run
    offer: list[str]
    """A string a layer, a letter a neuron: can it be shown, and if not, why. Behind a bar, of random directions."""
    rows: Mapping[str, NDArray[np.intp]]
    """For each kind of unit, the row of each in the run's units, by layer and index."""
    others: Mapping[str, Run]
    """Runs of the same model over other splits of the same corpus, by split."""

    @property
    def info(self) -> RunInfo:
        return self.run.info

    def sealed(self) -> dict[str, Any]:
        """What the seal fixes about an arm."""
        info = self.info
        return {
            "name": info.name,
            "condition": info.condition,
            "size": info.size,
            "seed": info.seed,
            "run_digest": info.digest,
            "offer": self.offer,
        }


def read_arms(folders: Sequence[Path], design: Design, *, every_byte: bool = True) -> list[Arm]:
    """Open the runs of a study. Raises Invalid where they cannot be compared, and says what differs.

    Whoever seals a study compares every byte with the digests: the seal holds them, so they must be true.
    """
    with ThreadPoolExecutor() as threads:  # reading and hashing keep several cores at work
        opened = list(threads.map(lambda folder: _open(folder, every_byte), folders))
    runs = [run for run in opened if run.info.split not in OTHER_SPLITS]
    others = [run for run in opened if run.info.split in OTHER_SPLITS]
    infos = [run.info for run in runs]
    faults = [*_too_few(infos), *_apart(infos), *_same_names(infos)]
    faults += [fault for info in infos for fault in _unfit(info, design)]
    for split in OTHER_SPLITS:
        faults += _apart([run.info for run in others if run.info.split == split])
    faults += [fault for run in others for fault in _stray(run.info, infos)]
    if faults:
        raise Invalid(N_("These runs cannot make a study. %(why)s"), why=tuple(faults))
    return [_arm(run, [other for other in others if _same_model(other.info, run.info)], design) for run in runs]


def listed(runs_dir: Path) -> list[tuple[str, RunInfo]]:
    """The finished run folders an administrator may choose from, by the name of the folder."""
    found = []
    for folder in sorted(runs_dir.iterdir()) if runs_dir.is_dir() else []:
        try:
            found.append((folder.name, open_run(folder).info))
        except RunFolderError:
            continue  # not finished, or of another program's version: nothing to choose
    return found


def snippets_of(arm: Arm, item: DrawnItem, design: Design, near: Reach) -> list[Shown]:
    """The snippets of an item in the order they are shown, each on the scale of its own neuron's maximum.

    Of a long context only what is near the peak is read.
    """
    ranks = range(len(item.order))
    rows = arm.rows["direction" if item.unit.kind == "direction" else "neuron"][item.unit.layer]
    neurons = item.neurons if len(item.neurons) > 1 else item.neurons * len(ranks)
    by_neuron = {neuron: kept_of(arm.run, int(rows[neuron]), design) or [] for neuron in dict.fromkeys(neurons)}
    chosen = [
        (by_neuron[neuron][rank], by_neuron[neuron][0].value) for neuron, rank in zip(neurons, ranks, strict=True)
    ]
    return [shown(arm.run, *chosen[rank], near) for rank in item.order]


def kept_of(run: Run, row: int, design: Design) -> list[Snippet] | None:
    """The snippets a design shows of one unit, the strongest first; None where the run has too few."""
    return spectrum.chosen(
        spectrum.sections(design), lambda section: run.snippets(section, row), lambda one: (one.document, one.start)
    )


def _open(folder: Path, every_byte: bool) -> Run:
    try:
        return open_run(folder, every_byte=every_byte)
    except RunFolderError as error:
        raise Invalid(N_("A run folder cannot be used. %(why)s"), why=Quoted(str(error))) from None


def _apart(infos: Sequence[RunInfo]) -> Iterator[str]:
    return map(Quoted, comparable(infos))


def _too_few(infos: Sequence[RunInfo]) -> Iterator[str]:
    if len(infos) < 2:
        yield Said(N_("A study compares two runs or more; %(n)s was given."), n=len(infos))


def _same_names(infos: Sequence[RunInfo]) -> Iterator[str]:
    names = [info.name for info in infos]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Said(N_("Two of them have the name %(name)s; collect one again under another name."), name=name)


def _unfit(info: RunInfo, design: Design) -> Iterator[str]:
    if info.split != SPLIT:
        yield Said(
            N_("%(name)s was collected on the split %(split)s, and a study needs %(needed)s."),
            name=info.name, split=info.split, needed=SPLIT,
        )  # fmt: skip
    if info.kept < design.snippets:
        yield Said(
            N_("%(name)s kept %(n)s snippets a neuron, and the design shows %(need)s."),
            name=info.name, n=info.kept, need=design.snippets,
        )  # fmt: skip
    if missing := [section for section in spectrum.sections(design) if section not in info.sections]:
        yield Said(N_("%(name)s has no section %(section)s."), name=info.name, section=missing[0])
        if missing != [spectrum.TOP]:
            yield Said(N_("Collect it again with --complete."))
    if design.directions_per_arm and not info.directions:
        yield Said(
            N_("%(name)s has no random directions. Collect it again with --directions N, or ask for none."),
            name=info.name,
        )  # fmt: skip


def _stray(info: RunInfo, arms: Sequence[RunInfo]) -> Iterator[str]:
    """A run over another split must be of the model of an arm, over the same corpus."""
    mine = [arm for arm in arms if _same_model(info, arm)]
    if not mine:
        yield Said(
            N_("%(name)s was collected on the split %(split)s of a model that no other run is of."),
            name=info.name, split=info.split,
        )  # fmt: skip
    if any(arm.corpus_digest != info.corpus_digest or arm.tokenizer_digest != info.tokenizer_digest for arm in mine):
        yield Said(
            N_("%(name)s was collected over another corpus than the run of its model on the split %(split)s."),
            name=info.name, split=SPLIT,
        )  # fmt: skip


def _same_model(one: RunInfo, other: RunInfo) -> bool:
    return one.checkpoint_digest == other.checkpoint_digest


def _arm(run: Run, others: Sequence[Run], design: Design) -> Arm:
    rows = {kind: rows_of(run, kind) for kind in KINDS}
    offer = letters_of(run, rows["neuron"], design)
    if design.directions_per_arm:
        directions = letters_of(run, rows["direction"], design)
        offer = [f"{neurons}{OF_DIRECTIONS}{more}" for neurons, more in zip(offer, directions, strict=True)]
    return Arm(run, offer, rows, {other.info.split: other for other in others})


def rows_of(run: Run, kind: str) -> NDArray[np.intp]:
    """Where each unit of the kind stands among the run's units, by layer and index; -1 where there is none."""
    at = np.flatnonzero(run.units["kind"] == KINDS.index(kind))
    rows = np.full((run.info.layers, run.info.hidden if kind == "neuron" else run.info.directions), -1, np.intp)
    rows[run.units["layer"][at], run.units["index"][at]] = at
    return rows


def letters_of(run: Run, rows: NDArray[np.intp], design: Design) -> list[str]:
    """A string a layer, a letter a unit."""
    states = np.array([LETTERS[state] for state in STATES])[run.units["state"]]
    few = (states == SHOWN) & (run.units["snippets"] < spectrum.sections(design)[spectrum.TOP])
    if design.snippet_choice != spectrum.TOP:
        for row in np.flatnonzero((states == SHOWN) & ~few):
            few[row] = kept_of(run, int(row), design) is None
    letters = np.append(np.where(few, FEW, states), LETTERS["dead"])  # the last one is that of row -1
    return ["".join(letters[layer]) for layer in rows]


def shown(run: Run, snippet: Snippet, top: float, near: Reach) -> Shown:
    """A snippet as raters see it, its activations as shares of `top`."""
    first, last = max(0, snippet.peak - near.before), min(len(snippet.tokens_W), snippet.peak + near.after)
    tokens = snippet.tokens_W[first:last].tolist()
    if not run.specials.isdisjoint(tokens):
        return shown(run, _without(run.specials, snippet), top, near)
    return Shown(
        texts=run.texts(tokens),
        activations=snippet.activations_W[first:last] / np.float32(top),
        peak=snippet.peak - first,
        document_start=snippet.document_start and run.specials.issuperset(snippet.tokens_W[:first].tolist()),
        document_end=snippet.document_end and run.specials.issuperset(snippet.tokens_W[last:].tolist()),
    )


def _without(specials: frozenset[int], snippet: Snippet) -> Snippet:
    kept = np.flatnonzero(np.isin(snippet.tokens_W, list(specials), invert=True))
    return snippet._replace(
        tokens_W=snippet.tokens_W[kept],
        activations_W=snippet.activations_W[kept],
        peak=int(kept.searchsorted(snippet.peak)),
    )


def reopened(folder: Path, digest: str) -> Run:
    """The run of an arm after its study. Raises Invalid where it is gone, or is not the one that was sealed."""
    run = _open(folder, every_byte=False)
    if run.info.digest != digest:
        raise Invalid(
            N_("The run folder %(folder)s is not the one that was sealed: its digest is %(digest)s."),
            folder=folder, digest=run.info.digest,
        )  # fmt: skip
    return run


def strongest_of(run: Run, layer: int, number: int, design: Design) -> list[Shown]:
    """The snippets of a neuron as the design shows them, strongest first, their activations as they were measured."""
    row = int(rows_of(run, "neuron")[layer, number])
    near = on_each_side(design.wide_tokens)
    return [shown(run, snippet, 1.0, near) for snippet in kept_of(run, row, design) or []]
