"""The tables of docs/scale.md, worked out from scale.toml: `python -m benchmarks.scale_figures`.

With a name it measures one figure of that file again: merge, write, matmul or forward.
"""

import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.material import untrained
from benchmarks.scale import Collection, Device, bytes_a_unit, forward_flops, memory_a_unit, train_flops, units_of
from model_runner.architecture.config import ModelConfig, find_config, read_config
from model_runner.collect.top import Candidates, TopLists, empty_lists, insert, merge
from model_runner.run.arrays import UNIT
from model_runner.run.writer import Vocabulary, write_run

INPUTS = Path(__file__).with_name("scale.toml")
RUNGS = ("demo", "13m", "201m", "805m", "3b", "13b", "50b")
WINDOWS = (256, 1024, 8192)
LARGEST = "50b"
TRAINED_TOKENS = {"the config's": 22e9, "20 a parameter": 20 * 51_539_607_552}
GPUS = 1024


def tables(inputs: dict[str, Any]) -> str:
    """All of them, in Markdown."""
    devices = [Device(**device) for device in inputs["devices"]]
    return "\n".join(
        "\n".join(lines)
        for lines in (
            _measured(inputs["measured"]),
            _collecting(inputs, devices),
            _storing(inputs["measured"]),
            _training(devices[0]),
        )
    )


def _measured(measured: dict[str, Any]) -> Iterator[str]:
    yield from _head("measured here", "figure", "command")
    for one in measured.values():
        yield _row(one["what"], f"{one['value']:g} {one['unit']}", f"`{one['command']}`")
    yield ""


def _collecting(inputs: dict[str, Any], devices: Sequence[Device]) -> Iterator[str]:
    """A rung a row: the operations of the bare forward, times what collecting adds to it."""
    tokens, factor = inputs["tokens"], inputs["measured"]["collect_over_bare"]["value"]
    here = inputs["measured"]["forward"]["value"] * 1e9
    columns = [text for device in devices for text in (f"{device.name}: hours", "dollars")]
    yield from _head("config", "parameters", "neurons", "operations a token", "these two cores: hours", *columns)
    for name in RUNGS:
        config = rung(name)
        flops = forward_flops(config, min(1024, config.context)) * factor
        costs = [
            text
            for device in devices
            for text in (f"{device.hours(flops * tokens):,.3g}", f"{device.dollars(flops * tokens):,.3g}")
        ]
        counts = (f"{config.non_embedding_parameters:.3g}", f"{units_of(config):,}", f"{flops:.3g}")
        yield _row(name, *counts, f"{flops * tokens / here / 3600:,.3g}", *costs)
    yield ""


def _storing(measured: dict[str, Any]) -> Iterator[str]:
    """Bytes a unit, and what they come to for the largest rung."""
    config = rung(LARGEST)
    folder = f"{LARGEST}: run folder"
    times = ("writing it, hours", "merging two ranks, hours")
    yield from _head("window", "bytes a neuron", "complete", folder, "complete", "lists in memory", *times)
    for window in WINDOWS:
        top, whole = Collection(window), Collection(window, complete=True)
        units = units_of(config)
        lists = memory_a_unit(top, config.hidden) * units
        windows = units * top.kept * top.sides * window * 4
        yield _row(
            str(window),
            f"{bytes_a_unit(top):,}",
            f"{bytes_a_unit(whole):,}",
            _gigabytes(bytes_a_unit(top) * units),
            _gigabytes(bytes_a_unit(whole) * units),
            _gigabytes(lists),
            f"{bytes_a_unit(top) * units / measured['write']['value'] / 1e9 / 3600:.2g}",
            f"{windows / measured['merge']['value'] / 1e9 / 3600:.2g}",
        )
    yield ""


def _training(device: Device) -> Iterator[str]:
    config = rung(LARGEST)
    a_token = train_flops(config, config.context)
    named = f"training {LARGEST} on {device.name}: tokens"
    yield from _head(named, "", "operations", "device-hours", f"days on {GPUS:,}", "dollars")
    for name, tokens in TRAINED_TOKENS.items():
        flops = a_token * tokens
        hours = device.hours(flops)
        counts = (f"{tokens:.3g}", f"{flops:.3g}", f"{hours:,.3g}")
        yield _row(name, *counts, f"{hours / GPUS / 24:.3g}", f"{device.dollars(flops):,.3g}")
    yield ""


def rung(name: str) -> ModelConfig:
    """The shape of a config that ships; vocabularies differ, and nothing here but training counts them."""
    return read_config(find_config(name), {"mlp": "solu_ln", "vocab_size": 48_262}, {})[0]


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:,.3g} GB"


def _head(*names: str) -> Iterator[str]:
    yield _row(*names)
    yield _row(*("---" for _ in names))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


# ---- measured again -------------------------------------------------------------------------------


def _best_of(do: Callable[[], None], times: int = 5) -> float:
    """Seconds of the fastest, which other work disturbed least."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        do()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def measure_merge(units: int = 2048, window: int = 256) -> float:
    """GB/s of the windows of one of two ranks, all of whose places are full."""
    one, other = _full_lists(units, window, 0), _full_lists(units, window, 1)
    kept = [array.copy() for array in vars(one).values()]

    def again() -> None:
        for array, before in zip(vars(one).values(), kept, strict=True):
            array[:] = before

    def both() -> None:
        again()
        merge(one, other)

    return other.windows_PSW.nbytes / (_best_of(both) - _best_of(again)) / 1e9


def _full_lists(units: int, window: int, rank: int) -> TopLists:
    """Lists of one rank whose documents and clusters no other rank has."""
    lists, kept = empty_lists(units, 20, window, 2), 20
    rng, count = np.random.default_rng(rank), units * kept
    numbers = np.arange(count)
    found = Candidates(
        unit_E=numbers // kept,
        value_E=rng.random(count, np.float32),
        document_E=numbers % kept * 2 + rank,
        cluster_E=numbers % kept * 2 + rank,
        start_E=np.zeros(count, np.int64),
        peak_E=np.zeros(count, np.int64),
        window_E=numbers,
    )
    lists.windows_PSW[:] = rng.random((count, 2, window), np.float32)
    insert(lists, found)
    return lists


def measure_write(megabytes: int = 256) -> float:
    """GB/s of arrays into a run folder, flushed into the page cache, and their digests."""
    from benchmarks.open_neuron import made_info

    array = np.random.default_rng(0).random(megabytes * 250_000, np.float32).view(np.uint8)
    vocabulary = Vocabulary(array, np.zeros(1, np.int64))
    with tempfile.TemporaryDirectory() as folder:
        seconds = _best_of(lambda: _write(Path(folder, "run"), made_info(0), vocabulary), times=3)
    return array.nbytes / seconds / 1e9


def _write(folder: Path, info: Any, vocabulary: Vocabulary) -> None:
    write_run(folder, info, np.zeros(0, UNIT), {}, vocabulary)


def measure_matmul(size: int = 2048) -> float:
    """GFLOP/s."""
    one, other = torch.rand(size, size), torch.rand(size, size)
    return 2 * size**3 / _best_of(lambda: (one @ other, None)[1], times=10) / 1e9


@torch.inference_mode()
def measure_forward(rows: int = 8, context: int = 256) -> float:
    """GFLOP/s of a model of 50 million parameters, up to its last activation."""
    model = untrained("solu_ln", 4096, width=1024, layers=4, context=context)
    tokens_BT = torch.randint(4096, (rows, context), generator=torch.Generator().manual_seed(0))

    def forward() -> None:
        for _ in model.activations(tokens_BT):
            pass

    # The last layer's matrix down, a twelfth of it, is not computed up to the last activation.
    share = 1 - 4 / 12 / model.config.layers
    return forward_flops(model.config, context) * share * rows * context / _best_of(forward) / 1e9


MEASURES: dict[str, Callable[[], float]] = {
    "merge": measure_merge,
    "write": measure_write,
    "matmul": measure_matmul,
    "forward": measure_forward,
}

if __name__ == "__main__":
    for asked in sys.argv[1:]:
        sys.stdout.write(f"{asked}: {MEASURES[asked]():.3g}\n")
    if not sys.argv[1:]:
        sys.stdout.write(tables(tomllib.loads(INPUTS.read_text(encoding="utf-8"))))
