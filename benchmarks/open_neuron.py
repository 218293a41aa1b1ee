"""Reading one neuron of a run folder of 100,000 against one of 1,000, and against a bare memory map.

The bare reading copies the same bytes of the same files: one slice of each array's map. Both are timed
with the files in the page cache, each time on a neuron that is chosen anew.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.outcome import Outcome
from model_runner.run.arrays import ROW, UNIT
from model_runner.run.folder import Run, open_run
from model_runner.run.info import RunInfo
from model_runner.run.writer import SectionArrays, Vocabulary, write_run

NAME, TARGET, TARGET_BARE = "open-neuron", 1.5, 5.0
SMALL, LARGE, KEPT, WINDOW, TIMES = 1_000, 100_000, 20, 32, 2_000


def measure() -> Outcome:
    """The ratio is that of the two sizes; the other one is in the detail, and `ok` wants both."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = _made(Path(folder, "small"), SMALL), _made(Path(folder, "large"), LARGE)
        rng = np.random.default_rng(0)
        bare = _bare_reader(large)
        seconds: dict[str, list[float]] = {"small": [], "large": [], "bare": []}
        for _ in range(TIMES):
            unit = int(rng.integers(LARGE))
            bare(unit)
            seconds["bare"].append(_timed(bare, unit))
            seconds["large"].append(_timed(lambda unit: _read(large, unit), unit))
            seconds["small"].append(_timed(lambda unit: _read(small, unit), unit % SMALL))
    typical = {name: statistics.median(values) for name, values in seconds.items()}
    ratio, to_bare = typical["large"] / typical["small"], typical["large"] / typical["bare"]
    microseconds = {name: round(value * 1e6, 1) for name, value in typical.items()}
    detail = {"microseconds": microseconds, "ratio_to_bare": round(to_bare, 2), "target_to_bare": TARGET_BARE}
    return Outcome(NAME, round(ratio, 4), TARGET, ratio <= TARGET and to_bare <= TARGET_BARE, detail)


def _timed(read: Callable[[int], object], unit: int) -> float:
    started = time.perf_counter()
    read(unit)
    return time.perf_counter() - started


def _read(run: Run, unit: int) -> list[tuple[bytes, bytes]]:
    """All that the web application takes of a neuron: tokens and activations of every snippet."""
    return [(each.tokens_W.tobytes(), each.activations_W.tobytes()) for each in run.snippets("top", unit)]


def _bare_reader(run: Run) -> Callable[[int], list[bytes]]:
    names = ("offsets", "snippets", "tokens", "activations")
    offsets, rows, tokens, activations = (np.load(run.folder / f"top.{n}.npy", mmap_mode="r") for n in names)

    def read(unit: int) -> list[bytes]:
        first, last = offsets[unit : unit + 2]
        mine = rows[first:last]
        at, end = mine[0]["at"], mine[-1]["at"] + mine[-1]["length"]
        return [mine.tobytes(), tokens[at:end].tobytes(), activations[at:end].tobytes()]

    return read


def _made(folder: Path, units: int) -> Run:
    """A run folder of `units` units whose snippets hold noise."""
    rng = np.random.default_rng(units)
    rows = np.zeros(units * KEPT, ROW)
    rows["at"], rows["length"] = np.arange(units * KEPT) * WINDOW, WINDOW
    flat = units * KEPT * WINDOW
    section = SectionArrays(
        offsets=np.arange(units + 1) * KEPT,
        snippets=rows,
        tokens=np.resize(rng.integers(0, 256, 1 << 20).astype(np.uint16), flat),
        activations=np.resize(rng.random(1 << 20, np.float32), flat),
    )
    table = np.zeros(units, UNIT)
    table["index"], table["snippets"] = np.arange(units), KEPT
    write_run(folder, made_info(units), table, {"top": section}, _bytes())
    return open_run(folder)


def _bytes() -> Vocabulary:
    offsets: NDArray[np.int64] = np.arange(257)
    return Vocabulary(np.arange(256, dtype=np.uint8), offsets)


def made_info(units: int) -> RunInfo:
    """What run.json says of a run that nobody collected."""
    return RunInfo(
        name="made-up",
        condition="gelu",
        size=1,
        seed=0,
        layers=1,
        hidden=units,
        validation_loss=None,
        train_tokens=0,
        checkpoint_digest="",
        activation_point="only",
        corpus_digest="",
        tokenizer_digest="",
        split="collect",
        window=WINDOW,
        kept=KEPT,
        parts=[],
        exclusions=[],
        sections=[],
        sources=[],
        specials=[],
        directions=0,
        directions_seed=None,
        collected_documents=0,
        collected_tokens=0,
        settings={},
    )
