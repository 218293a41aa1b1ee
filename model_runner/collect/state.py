"""What a collection has gathered so far, in one file that survives being killed; with several ranks, in one each.

A file is written whole and put in its place by rename. It holds the settings it belongs to, the number of
the next block, and the arrays of every layer; zip checksums guard each of them.
"""

import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from model_runner.checkpoint import TRAIN
from model_runner.collect.capture import Gathered
from model_runner.collect.exact_sum import ExactSum
from model_runner.collect.group import Group
from model_runner.collect.spread import Spread, carry
from model_runner.collect.top import COLUMNS, Candidates, TopLists, listed_windows
from model_runner.collect.waiting import Waiting, hold_back
from model_runner.errors import RunnerError
from model_runner.files import remove, why
from model_runner.foreign.record import FOREIGN
from model_runner.occupied import refuse_occupied
from model_runner.ranks import Ranks
from model_runner.record import Unfit, record_in
from model_runner.train.resume import STATE, refuse_change

STATE_NAME = "collecting.npz"
STATES = "collecting*.npz*"
STATE_FORMAT = 3
WATCHED = ("finite_F", "constant_F", "first_F")
DAMAGES = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError),  # of the archive
    *(TokenError, SyntaxError, TypeError, ValueError, KeyError, Unfit),  # of what is in it
)
"""What reading a damaged archive of arrays has been seen to raise."""
WINDOWS = "windows_PSW"
LISTS = tuple(field.name for field in fields(TopLists) if field.name != WINDOWS)


def state_file(folder: Path, ranks: Ranks) -> Path:
    """Where a rank keeps its state."""
    return folder / (STATE_NAME if ranks.count == 1 else f"collecting-{ranks.rank}-of-{ranks.count}.npz")


def make_room(folder: Path, ranks: Ranks) -> None:
    """Make the folder and see that it can be written, before the work: nobody waits an hour to hear that it cannot.

    Raises RunnerError, also where another number of ranks has begun, each of which had another share, and where the
    folder is a corpus, whose vocabulary has the same names.
    """
    refuse_occupied(folder, TRAIN, STATE, FOREIGN)
    state = state_file(folder, ranks)
    try:
        # The run is called like its folder.
        folder.resolve().name.encode()
        folder.mkdir(parents=True, exist_ok=True)
        _partial(state).touch()
    except UnicodeEncodeError as error:
        raise RunnerError(f"The name {os.fsencode(folder.resolve())!r} is not UTF-8. Choose another --out.") from error
    except OSError as error:
        raise RunnerError(f"{folder} could not be written: {error.strerror}. Choose another --out.") from error
    ours = {state_file(folder, replace(ranks, rank=rank)) for rank in range(ranks.count)}
    for other in sorted(set(folder.glob("collecting*.npz")) - ours):
        raise RunnerError(
            f"{other} was begun by another number of processes than {ranks.count}. "
            "Collect with as many again, or delete it."
        )


def _partial(state: Path) -> Path:
    return state.with_name(f"{state.name}.partial")


def save_state(path: Path, settings: Mapping[str, Any], next_block: int, groups: Sequence[Group]) -> None:
    """Write the state. The candidates still waiting must be those of one unfinished document.

    Raises RunnerError when the disk is full or the folder cannot be written; the state before is kept.
    """
    about = {"format": STATE_FORMAT, "settings": settings, "next_block": next_block}
    arrays = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}
    for number, group in enumerate(groups):
        arrays |= {f"{number}/{name}": array for name, array in _group_arrays(group)}
    partial = _partial(path)
    try:
        with partial.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise RunnerError(
            f"{partial} could not be written: {why(error)}. What was collected until the last state is "
            "kept; make room and run the same command again."
        ) from error


def _group_arrays(group: Group) -> Iterator[tuple[str, NDArray[Any]]]:
    for number, gathered in enumerate(group.gathered):
        yield from ((f"{number}/{name}", array) for name, array in _arrays(gathered))
    if group.spread is not None:
        yield from ((f"spread/{name}", array) for name, array in _spread_arrays(group.spread))
    if group.bands is not None:
        yield from ((f"bands/{name}", array) for name, array in _list_arrays(group.bands.lists, group.bands.waiting))


def _spread_arrays(spread: Spread) -> Iterator[tuple[str, NDArray[Any]]]:
    carry(spread)
    yield "counts_HF", spread.counts_HF.numpy(force=True)
    yield from (("least_F", spread.least_F), ("greatest_F", spread.greatest_F))
    for name, total in _sums(spread):
        yield from ((f"{name}/limbs_LF", total.limbs_LF), (f"{name}/broken_F", total.broken_F))
        yield f"{name}/added", np.array(total.added)


def _sums(spread: Spread) -> tuple[tuple[str, ExactSum], ...]:
    return ("sum_F", spread.sum_F), ("squares_F", spread.squares_F)


def _arrays(gathered: Gathered) -> Iterator[tuple[str, NDArray[Any]]]:
    yield from ((name, getattr(gathered, name)) for name in WATCHED)
    yield from _list_arrays(gathered.lists, gathered.waiting)


def _list_arrays(lists: TopLists, waiting: Waiting) -> Iterator[tuple[str, NDArray[Any]]]:
    """Of the windows those up to the last that is needed, without a copy of them."""
    yield from ((name, getattr(lists, name)) for name in LISTS)
    held = waiting.candidates[: waiting.used]
    yield from ((f"held/{name}", getattr(held, name)) for name in COLUMNS)
    needed = np.concatenate([listed_windows(lists), held.window_E])
    yield WINDOWS, lists.windows_PSW[: needed.max(initial=-1) + 1]


def load_state(path: Path, settings: Mapping[str, Any], groups: Sequence[Group]) -> int:
    """Put the saved arrays into `groups`, which are fresh, and return the number of the next block.

    Without a state that is 0. Raises RunnerError when the state is damaged or belongs to other settings.
    """
    if not path.exists():
        return 0
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            about = record_in(_About, stored["about"].tobytes())
            _refuse_change(path, about, settings)
            for number, group in enumerate(groups):
                _restore_group(group, {name: stored[f"{number}/{name}"] for name, _ in _group_arrays(group)})
    except DAMAGES as error:
        raise RunnerError(
            f"{path} is damaged ({error}). Delete it to collect from the beginning, or restore it from a copy."
        ) from error
    return about.next_block


@dataclass(frozen=True, kw_only=True)
class _About:
    """What a state says of itself."""

    format: int
    settings: dict[str, Any]
    next_block: int


def _refuse_change(path: Path, about: _About, settings: Mapping[str, Any]) -> None:
    if about.format != STATE_FORMAT:
        raise RunnerError(f"{path} has format {about.format}, and this program knows {STATE_FORMAT}. Delete it.")
    refuse_change(about.settings, dict(settings), path.parent)


def _restore_group(group: Group, arrays: Mapping[str, NDArray[Any]]) -> None:
    for number, gathered in enumerate(group.gathered):
        _restore(gathered, {name: arrays[f"{number}/{name}"] for name, _ in _arrays(gathered)})
    if group.spread is not None:
        _restore_spread(group.spread, {name: arrays[f"spread/{name}"] for name, _ in _spread_arrays(group.spread)})
    if group.bands is not None:
        bands = group.bands
        names = [name for name, _ in _list_arrays(bands.lists, bands.waiting)]
        _restore_lists(bands.lists, bands.waiting, {name: arrays[f"bands/{name}"] for name in names})


def _restore(gathered: Gathered, arrays: Mapping[str, NDArray[Any]]) -> None:
    for name in WATCHED:
        getattr(gathered, name)[...] = arrays[name]
    _restore_lists(gathered.lists, gathered.waiting, arrays)


def _restore_lists(lists: TopLists, waiting: Waiting, arrays: Mapping[str, NDArray[Any]]) -> None:
    for name in LISTS:
        getattr(lists, name)[...] = arrays[name]
    lists.windows_PSW[: len(arrays[WINDOWS])] = arrays[WINDOWS]
    hold_back(waiting, lists, Candidates(**{name: arrays[f"held/{name}"] for name in COLUMNS}))


def _restore_spread(spread: Spread, arrays: Mapping[str, NDArray[Any]]) -> None:
    spread.counts_HF.copy_(torch.from_numpy(arrays["counts_HF"]))
    spread.least_F[...], spread.greatest_F[...] = arrays["least_F"], arrays["greatest_F"]
    for name, total in _sums(spread):
        total.limbs_LF[...], total.broken_F[...] = arrays[f"{name}/limbs_LF"], arrays[f"{name}/broken_F"]
        total.added = int(arrays[f"{name}/added"])


def forget_states(folder: Path) -> None:
    """Remove what only an unfinished collection needs. Raises RunnerError when that cannot be done."""
    for path in folder.glob(STATES):
        remove(path)
