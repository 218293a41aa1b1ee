"""The arithmetic of docs/scale.md: operations and bytes against what torch counts and what files hold."""

import dataclasses
import tomllib
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import scale_figures
from benchmarks.scale import Collection, Device, bytes_a_unit, forward_flops, memory_a_unit, train_flops, units_of
from benchmarks.scale_figures import INPUTS, rung, tables
from model_runner.collect.capture import nothing_gathered
from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig
from model_runner.corpus.store import Corpus
from model_runner.run.folder import Run, open_run
from tests.corpora import make_corpus
from tests.model_runner.collect.collecting import make_checkpoint
from tests.model_runner.models import scrambled, small_config
from tests.texts import CODE, PROSE

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
START, END = "<!-- tables -->\n", "<!-- end of tables -->"


def test_the_page_shows_what_the_script_prints() -> None:
    shown = PAGE.read_text(encoding="utf-8").partition(START)[2].partition(END)[0]
    assert shown.strip() == tables(tomllib.loads(INPUTS.read_text(encoding="utf-8"))).strip(), (
        "print the tables again with `python -m benchmarks.scale_figures`"
    )


def test_every_figure_says_how_it_was_measured() -> None:
    inputs = tomllib.loads(INPUTS.read_text(encoding="utf-8"))
    for figure in inputs["measured"].values():
        assert figure.keys() == {"what", "value", "unit", "command"}
        assert figure["command"].startswith(("make bench ONLY=", "python -m benchmarks.scale_figures "))
        if "scale_figures" in figure["command"]:
            assert figure["command"].split()[-1] in scale_figures.MEASURES


def test_the_largest_rung_is_the_paper_s_largest() -> None:
    config = rung("50b")
    assert config.non_embedding_parameters == 51_539_607_552
    assert units_of(config) == 64 * 4 * 8192
    assert forward_flops(config, 1024) == pytest.approx(2 * config.non_embedding_parameters, rel=0.02)


def test_operations_of_the_matrices_are_those_that_torch_counts() -> None:
    config = small_config(layers=3, context=8)
    model = scrambled(config)
    tokens_BT = torch.zeros(2, 8, dtype=torch.long)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(tokens_BT)
    products = {str(name): count for name, count in counter.get_flop_counts()["Global"].items()}
    matrices = sum(count for name, count in products.items() if name.split(".")[-1] in ("mm", "addmm", "bmm"))
    attention = 4 * config.layers * config.width * (8 + 1) / 2
    assert matrices / 16 == forward_flops(config, 8) - attention + 2 * config.vocab_size * config.width
    assert train_flops(config, 8) == 3 * (matrices / 16 + attention)


def test_a_local_head_reads_its_window() -> None:
    config = small_config(context=16)
    local = dataclasses.replace(config, local_heads=1, local_window=4)
    dense_reads = sum(range(1, 17)) / 16
    local_reads = sum(min(position, 4) for position in range(1, 17)) / 16
    width = 4 * config.layers * config.head_width
    assert forward_flops(config, 16) - forward_flops(local, 16) == pytest.approx(width * (dense_reads - local_reads))


def test_hours_and_dollars() -> None:
    device = Device("made up", peak_tflops=100, memory_gb=1, utilisation=0.5, dollars_an_hour=2.0)
    assert device.hours(3600 * 50e12) == 1
    assert device.dollars(3600 * 50e12 * 3) == 6


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Documents that fill whole contexts of eight tokens, many times over."""
    texts = [f"{number} {text}" for number in range(8) for text in (*PROSE, *CODE)]
    return make_corpus(tmp_path_factory.mktemp("corpus") / "c", texts, shares={"collect": 1.0})


def held(run: Run, start: str = "") -> int:
    """Bytes of the arrays whose names begin like this."""
    return sum(file.stat().st_size - 128 for file in run.folder.glob(f"{start}*.npy"))


@pytest.mark.parametrize("complete", [False, True])
def test_bytes_a_unit_are_those_of_a_run_folder(complete: bool, corpus: Corpus, tmp_path: Path) -> None:
    """Counted: no more than a full context for each snippet, and no less than half of it here."""
    checkpoint = make_checkpoint(tmp_path / "model", corpus)
    collect(checkpoint, corpus, tmp_path / "run", CollectConfig(window=8, kept=4, complete=complete))
    run = open_run(tmp_path / "run")
    full = bytes_a_unit(Collection(window=8, kept=4, complete=complete)) * len(run.units)
    files = held(run) - held(run, "token_") - held(run, "histogram_edges")
    assert 0.5 * full < files <= full + 64 * len(list(run.folder.glob("*.npy")))


def test_memory_a_unit_is_that_of_the_windows() -> None:
    gathered = nothing_gathered(3000, 20, 64, 2)
    assert memory_a_unit(Collection(window=64), 3000) * 3000 == gathered.lists.windows_PSW.nbytes


def test_a_figure_can_be_measured_again() -> None:
    assert scale_figures.measure_merge(units=64, window=8) > 0
