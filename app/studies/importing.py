"""Reading run folders: what they offer to a draw, and the snippets of the items that were drawn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import Invalid
from app.rating.shading import Shown
from app.studies.draw import SHOWN, DrawnItem
from model_runner.run_folder import KINDS, STATES, Run, RunFolderError, RunInfo, Snippet, comparable, open_run

SECTION = "top"
SPLIT = "collect"
LETTERS = {"ok": SHOWN, "dead": "d", "never_positive": "n", "too_few": "f", "not_finite": "x"}
"""How an offer spells the state of a neuron."""
FEW = LETTERS["too_few"]


@dataclass(frozen=True)
class Arm:
    """A run folder as an arm of a study."""

    run: Run
    offer: list[str]
    """A string a layer, a letter a neuron: can it be shown, and if not, why."""
    rows: NDArray[np.intp]
    """The row of each neuron in the run's units, by layer and index."""

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


def read_arms(folders: Sequence[Path], snippets: int) -> list[Arm]:
    """Open the runs of a study. Raises Invalid where they cannot be compared, and says what differs."""
    runs = [_open(folder) for folder in folders]
    infos = [run.info for run in runs]
    faults = [*_too_few(infos), *comparable(infos), *_same_names(infos)]
    faults += [fault for info in infos for fault in _unfit(info, snippets)]
    if faults:
        raise Invalid("These runs cannot make a study. " + " ".join(faults))
    return [_arm(run, snippets) for run in runs]


def listed(runs_dir: Path) -> list[tuple[str, RunInfo]]:
    """The finished run folders an administrator may choose from, by the name of the folder."""
    found = []
    for folder in sorted(runs_dir.iterdir()) if runs_dir.is_dir() else []:
        try:
            found.append((folder.name, open_run(folder).info))
        except RunFolderError:
            continue  # not finished, or of another program's version: nothing to choose
    return found


def snippets_of(arm: Arm, item: DrawnItem, reach: int) -> list[Shown]:
    """The snippets of an item in the order they are shown, each on the scale of its own neuron's maximum.

    Of a long context only `reach` tokens on each side of the peak are read; more is never shown.
    """
    ranks = range(len(item.order))
    neurons = item.neurons if len(item.neurons) > 1 else item.neurons * len(ranks)
    by_neuron = {
        neuron: arm.run.snippets(SECTION, int(arm.rows[item.unit.layer, neuron])) for neuron in dict.fromkeys(neurons)
    }
    chosen = [
        (by_neuron[neuron][rank], by_neuron[neuron][0].value) for neuron, rank in zip(neurons, ranks, strict=True)
    ]
    return [_shown(arm.run, *chosen[rank], reach) for rank in item.order]


def _open(folder: Path) -> Run:
    try:
        return open_run(folder, every_byte=True)  # the seal holds the run's digest, so it must be true
    except RunFolderError as error:
        raise Invalid(str(error)) from None


def _too_few(infos: Sequence[RunInfo]) -> Iterator[str]:
    if len(infos) < 2:
        yield f"A study compares two runs or more; {len(infos)} was given."


def _same_names(infos: Sequence[RunInfo]) -> Iterator[str]:
    names = [info.name for info in infos]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"Two of them have the name {name}; collect one again under another name."


def _unfit(info: RunInfo, snippets: int) -> Iterator[str]:
    if info.split != SPLIT:
        yield f"{info.name} was collected on the split {info.split}, and a study needs {SPLIT}."
    if info.kept < snippets:
        yield f"{info.name} kept {info.kept} snippets a neuron, and the design shows {snippets}."
    if SECTION not in info.sections:
        yield f"{info.name} has no section {SECTION}."


def _arm(run: Run, snippets: int) -> Arm:
    at = np.flatnonzero(run.units["kind"] == KINDS.index("neuron"))
    neurons = run.units[at]
    states = np.array([LETTERS[state] for state in STATES])[neurons["state"]]
    letters = np.full((run.info.layers, run.info.hidden), LETTERS["dead"])
    letters[neurons["layer"], neurons["index"]] = np.where(
        (states == SHOWN) & (neurons["snippets"] < snippets), FEW, states
    )
    rows = np.zeros(letters.shape, np.intp)
    rows[neurons["layer"], neurons["index"]] = at
    return Arm(run, ["".join(layer) for layer in letters], rows)


def _shown(run: Run, snippet: Snippet, top: float, reach: int) -> Shown:
    first, last = max(0, snippet.peak - reach), min(len(snippet.tokens_W), snippet.peak + reach + 1)
    tokens = snippet.tokens_W[first:last].tolist()
    kept = [at for at, token in enumerate(tokens) if token not in run.specials]
    activations = snippet.activations_W[first:last] / np.float32(top)
    return Shown(
        texts=[run.token_bytes(tokens[at]) for at in kept],
        activations=activations[kept].tolist(),
        peak=kept.index(snippet.peak - first),
        document_start=snippet.document_start and first == 0,
        document_end=snippet.document_end and last == len(snippet.tokens_W),
    )
