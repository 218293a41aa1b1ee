import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from model_runner import collect as collecting
from model_runner.banded import BANDS
from model_runner.checkpoint import Checkpoint, TrainRecord, save_checkpoint
from model_runner.cli import main
from model_runner.collect import collect
from model_runner.collect_config import CollectConfig
from model_runner.collect_state import STATE_NAME
from model_runner.config import MLPName, ModelConfig
from model_runner.contexts import cut_contexts
from model_runner.corpus.store import Corpus
from model_runner.directions import random_directions
from model_runner.errors import RunnerError
from model_runner.group import BAND_KEPT
from model_runner.hold import hold
from model_runner.model import new_model
from model_runner.run_arrays import STATES
from model_runner.run_folder import open_run
from model_runner.run_info import INFO_NAME
from tests.corpora import make_corpus
from tests.model_runner.brute_force import MadeDocument, brute_force
from tests.texts import CODE, ODD, PROSE

WINDOW = 16
CONFIG = CollectConfig(kept=5, block=3)
SHAPE_NOISE = {"rtol": 5e-3, "atol": 1e-3}
"""How far the same activation may be off when it comes from a batch of another shape: this model is wild."""


def _texts() -> list[str | tuple[str, str]]:
    """Documents shorter and longer than a context, some of them near-duplicates of one long paragraph."""
    paragraph = " ".join(PROSE[:8])
    near = [(f"{paragraph} Number {n}.", "prose") for n in range(3)]
    plain = [(text, "prose") for text in (*PROSE[8:18], *ODD[:2])]
    return [*near, *plain, *((text, "code") for text in CODE[:4]), ("word " * 40, "prose"), ("a", "prose")]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus") / "c", _texts(), shares={"collect": 1.0})


def make_checkpoint(folder: Path, corpus: Corpus, mlp: MLPName = "solu_ln", layers: int = 2) -> Checkpoint:
    """A model with random weights that is large enough to have opinions."""
    config = ModelConfig(vocab_size=corpus.info.vocab_size, context=WINDOW, layers=layers, heads=2, width=8, mlp=mlp)
    model = new_model(config, 0)
    with torch.no_grad():
        for number, block in enumerate(model.blocks):
            generator = torch.Generator().manual_seed(number)
            block.mlp.up.weight.mul_(100)
            for weight in (block.attention.out.weight, block.mlp.down.weight):
                weight.normal_(0.0, 1.0, generator=generator)
    record = TrainRecord(
        step=1,
        tokens=1,
        loss=1.0,
        val_loss=None,
        seed=3,
        corpus_digest=corpus.info.digest,
        tokenizer_digest=corpus.info.tokenizer_digest,
        weights_digest="",
        seconds=0.0,
        train={},
    )
    checkpoint = save_checkpoint(folder, model.eval().requires_grad_(False), record)
    return replace(checkpoint, model=checkpoint.model.eval())


@pytest.fixture(scope="module")
def checkpoint(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return make_checkpoint(tmp_path_factory.mktemp("checkpoint"), corpus)


def _in_blocks(checkpoint: Checkpoint, corpus: Corpus, layer: int) -> list[MadeDocument]:
    """Every document with the layer's activations (tokens, units), from batches of the shape that is collected."""
    contexts = cut_contexts(corpus, corpus.in_split("collect"), WINDOW, 3)
    parts: dict[int, list[NDArray[np.float32]]] = {}
    for block in map(contexts.block, contexts.numbers):
        acts_BTF = list(checkpoint.model.activations(torch.from_numpy(block.tokens_BT)))[layer].numpy()
        for row, document in enumerate(block.document_B.tolist()):
            parts.setdefault(document, []).append(acts_BTF[row, 1 : block.length_B[row]])
    return [
        MadeDocument(n, np.concatenate(acts), corpus.document_clusters(n), np.zeros(sum(map(len, acts)), bool))
        for n, acts in parts.items()
        if n >= 0
    ]


@pytest.mark.parametrize("mlp", ["gelu", "solu", "solu_ln", "gelu_ln"])
def test_the_run_holds_the_top_snippets_of_the_definition(corpus: Corpus, tmp_path: Path, mlp: MLPName) -> None:
    checkpoint = make_checkpoint(tmp_path / "model", corpus, mlp)
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    run = open_run(tmp_path / "run")
    for layer in range(2):
        documents = _in_blocks(checkpoint, corpus, layer)
        for index in range(checkpoint.config.hidden):
            wanted = brute_force(documents, index, CONFIG.kept)
            if wanted[0].value > 0:
                wanted = [entry for entry in wanted if entry.value > 0]
            snippets = run.snippets("top", layer * checkpoint.config.hidden + index)
            assert [(s.value, s.document, s.start + s.peak - 1) for s in snippets] == wanted


def test_what_is_shown_is_what_was_ranked(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    info = collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    run = open_run(tmp_path / "run")
    assert info.activation_point == "before_norm"
    norms = [block.mlp.norm for block in checkpoint.model.blocks]
    collapsed = 0
    for unit, row in enumerate(run.units):
        for snippet in run.snippets("top", unit):
            tokens = corpus.document_tokens(snippet.document)[snippet.start : snippet.start + WINDOW - 1]
            assert snippet.tokens_W.tolist() == [corpus.info.bos, *tokens.tolist()]
            assert snippet.activations_W[1:].argmax() + 1 == snippet.peak
            assert snippet.document_start == (snippet.start == 0)
            end = snippet.start + len(tokens)
            assert snippet.document_end == (end == len(corpus.document_tokens(snippet.document)))
            everything = torch.from_numpy(snippet.tokens_W.astype(np.int64))[None]
            acts = list(checkpoint.model.activations(everything))[row["layer"]]
            np.testing.assert_allclose(snippet.activations_W, acts[0, :, row["index"]], **SHAPE_NOISE)
            after = norms[row["layer"]](acts)[0, :, row["index"]]
            np.testing.assert_allclose(snippet.after_norm_W, after, **SHAPE_NOISE)
            collapsed += snippet.collapsed
    assert collapsed > 0, "the near-duplicates should appear as one snippet that says how many it stands for"


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_collecting_twice_gives_the_same_bytes_and_the_second_time_reads(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = collect(checkpoint, corpus, tmp_path / "a" / "run", CONFIG)
    collect(checkpoint, corpus, tmp_path / "b" / "run", CONFIG)
    assert _files(tmp_path / "a" / "run") == _files(tmp_path / "b" / "run")
    monkeypatch.setattr(collecting, "read_blocks", None)
    assert collect(checkpoint, corpus, tmp_path / "a" / "run", CONFIG) == first


@pytest.mark.parametrize("block", [1, 2, 7, 1000])
def test_the_batch_size_changes_no_snippet(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, block: int) -> None:
    collect(checkpoint, corpus, tmp_path / "a", CONFIG)
    collect(checkpoint, corpus, tmp_path / "b", replace(CONFIG, block=block))
    one, other = open_run(tmp_path / "a"), open_run(tmp_path / "b")
    same = []
    for unit in range(len(one.units)):
        pairs = zip(one.snippets("top", unit), other.snippets("top", unit), strict=True)
        for mine, theirs in pairs:
            np.testing.assert_allclose(mine.value, theirs.value, **SHAPE_NOISE)
            same.append((mine.document, mine.start, mine.peak) == (theirs.document, theirs.start, theirs.peak))
            if same[-1]:
                np.testing.assert_allclose(mine.activations_W, theirs.activations_W, **SHAPE_NOISE)
    # Two snippets whose values differ in the last bits may change places, and nothing else may.
    assert np.mean(same) > 0.98


COMPLETE = replace(CONFIG, complete=True, directions=3, directions_seed=5)


def test_the_lowest_activations_are_the_top_of_the_negated_ones(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path
) -> None:
    collect(checkpoint, corpus, tmp_path / "run", COMPLETE)
    run = open_run(tmp_path / "run")
    for layer in range(2):
        documents = [made._replace(acts_TF=-made.acts_TF) for made in _in_blocks(checkpoint, corpus, layer)]
        for index in range(checkpoint.config.hidden):
            wanted = [entry for entry in brute_force(documents, index, CONFIG.kept) if entry.value > 0]
            snippets = run.snippets("negative", layer * checkpoint.config.hidden + index)
            assert [(-s.value, s.document, s.start + s.peak - 1) for s in snippets] == wanted
            assert all(s.activations_W[s.peak] == s.value for s in snippets)


def test_histogram_moments_and_extremes_are_exact(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    info = collect(checkpoint, corpus, tmp_path / "run", COMPLETE)
    run = open_run(tmp_path / "run")
    for layer in range(2):
        acts_NF = np.concatenate([made.acts_TF for made in _in_blocks(checkpoint, corpus, layer)])
        for index in range(checkpoint.config.hidden):
            spread, values = run.spread(layer * checkpoint.config.hidden + index), acts_NF[:, index]
            assert spread is not None
            assert spread.tokens == spread.counts_B.sum() == info.collected_tokens == len(values)
            assert (spread.least, spread.greatest) == (values.min(), values.max())
            assert spread.mean == pytest.approx(values.mean(dtype=np.float64), rel=1e-4, abs=1e-6)
            assert spread.variance == pytest.approx(values.var(dtype=np.float64), rel=1e-3, abs=1e-9)
            assert spread.density == (values >= 2.0**-40).mean()
            edges = spread.edges_B1
            wanted = [
                ((values >= low) & (values < high) if high > 0 else (values > low) & (values <= high)).sum()
                for low, high in pairwise(edges)
                if not low < 0 < high
            ]
            zero = int(np.flatnonzero((edges[:-1] < 0) & (edges[1:] > 0))[0])
            assert np.delete(spread.counts_B, zero).tolist() == wanted


def test_bands_show_what_lies_between_their_edges(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    collect(checkpoint, corpus, tmp_path / "run", COMPLETE)
    run = open_run(tmp_path / "run")
    norms = [block.mlp.norm for block in checkpoint.model.blocks]
    for unit in range(2 * checkpoint.config.hidden):
        spread = run.spread(unit)
        assert spread is not None
        for band in range(BANDS):
            counted = spread.counts_B[
                (spread.edges_B1[:-1] >= spread.band_edges[band + 1]) & (spread.edges_B1[1:] <= spread.band_edges[band])
            ].sum()
            snippets = run.snippets(f"band-{band}", unit)
            assert len(snippets) <= BAND_KEPT
            assert bool(snippets) >= bool(counted)
            assert len({(s.document, s.start) for s in snippets}) == len(snippets)
            for snippet in snippets:
                assert spread.band_edges[band + 1] <= snippet.value < spread.band_edges[band]
                assert snippet.activations_W[snippet.peak] == snippet.value
                layer, index = int(run.units["layer"][unit]), int(run.units["index"][unit])
                tokens = torch.from_numpy(snippet.tokens_W.astype(np.int64))[None]
                acts = list(checkpoint.model.activations(tokens))[layer]
                np.testing.assert_allclose(snippet.activations_W, acts[0, :, index], **SHAPE_NOISE)
                after = norms[layer](acts)[0, :, index]
                np.testing.assert_allclose(snippet.after_norm_W, after, **SHAPE_NOISE)


def test_directions_are_collected_like_neurons(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    info = collect(checkpoint, corpus, tmp_path / "run", COMPLETE)
    run = open_run(tmp_path / "run")
    assert (info.directions, info.directions_seed) == (3, 5)
    neurons = 2 * checkpoint.config.hidden
    assert run.units["kind"].tolist() == [0] * neurons + [1] * 6
    assert run.units[neurons:][["layer", "index"]].tolist() == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    for unit in range(neurons, neurons + 6):
        layer, index = int(run.units["layer"][unit]), int(run.units["index"][unit])
        direction_F = random_directions(layer, checkpoint.config.hidden, 3, 5)[:, index]
        for snippet in run.snippets("top", unit)[:2]:
            tokens = torch.from_numpy(snippet.tokens_W.astype(np.int64))[None]
            acts = list(checkpoint.model.activations(tokens))[layer][0]
            np.testing.assert_allclose(snippet.activations_W, acts @ direction_F, **SHAPE_NOISE)
            after = checkpoint.model.blocks[layer].mlp.norm(acts) @ direction_F
            np.testing.assert_allclose(snippet.after_norm_W, after, **SHAPE_NOISE)
            assert snippet.value == snippet.activations_W[1:].max()


def test_what_else_is_collected_leaves_the_top_as_it_is(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    collect(checkpoint, corpus, tmp_path / "plain", CONFIG)
    collect(checkpoint, corpus, tmp_path / "complete", COMPLETE)
    plain, complete = open_run(tmp_path / "plain"), open_run(tmp_path / "complete")
    assert plain.spread(0) is None
    assert complete.info.sections == ["top", "negative", *(f"band-{band}" for band in range(BANDS))]
    for unit in range(len(plain.units)):
        pairs = zip(plain.snippets("top", unit), complete.snippets("top", unit), strict=True)
        assert all(mine.value == theirs.value and mine.document == theirs.document for mine, theirs in pairs)


def test_capturing_changes_no_logit(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    tokens = torch.arange(WINDOW)[None] % corpus.info.vocab_size
    before = checkpoint.model(tokens)
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    assert torch.equal(checkpoint.model(tokens), before)


def test_dead_and_broken_neurons_have_a_state_and_no_text(corpus: Corpus, tmp_path: Path) -> None:
    checkpoint = make_checkpoint(tmp_path / "model", corpus, "gelu", layers=1)
    up = checkpoint.model.blocks[0].mlp.up
    up.weight[0], up.bias[0] = 0, 0
    up.weight[1] = torch.nan
    up.weight[2], up.bias[2] = up.weight[2] / 1000, -0.5
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    run = open_run(tmp_path / "run")
    assert [STATES[state] for state in run.units["state"][:4]] == ["dead", "not_finite", "never_positive", "ok"]
    assert [len(run.snippets("top", unit)) for unit in range(4)] == [0, 0, 5, 5]
    assert all(snippet.value < 0 for snippet in run.snippets("top", 2))


def test_a_model_that_is_nan_all_over_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    checkpoint = make_checkpoint(tmp_path / "model", corpus, "solu_ln")
    checkpoint.model.blocks[0].mlp.up.weight[1] = torch.nan
    with pytest.raises(RunnerError, match="Every activation of layer 0 is NaN"):
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    assert not (tmp_path / "run" / INFO_NAME).exists()


def test_fewer_documents_than_k(checkpoint: Checkpoint, tmp_path: Path, corpus: Corpus) -> None:
    small = make_corpus(
        tmp_path / "small",
        ["three little words", "and four more words"],
        shares={"collect": 1.0},
        tokenizer=corpus.folder / "tokenizer.json",
    )
    collect(checkpoint, small, tmp_path / "run", CONFIG)
    run = open_run(tmp_path / "run")
    assert {STATES[state] for state in run.units["state"]} <= {"too_few", "never_positive", "dead"}
    for unit in range(len(run.units)):
        assert {snippet.document for snippet in run.snippets("top", unit)} <= {0, 1}


def test_only_the_asked_parts_are_collected(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    info = collect(checkpoint, corpus, tmp_path / "run", replace(CONFIG, parts=("code",)))
    run = open_run(tmp_path / "run")
    code = set(corpus.in_split("collect", ["code"]).tolist())
    assert info.parts == ["code"]
    assert info.collected_documents == len(code)
    assert {s.document for unit in range(len(run.units)) for s in run.snippets("top", unit)} <= code


def test_a_limit_of_tokens_takes_the_first_documents(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    info = collect(checkpoint, corpus, tmp_path / "run", replace(CONFIG, tokens=200))
    lengths = corpus.documents["length"][: info.collected_documents]
    assert lengths[:-1].sum() < 200 <= lengths.sum() == info.collected_tokens


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (CollectConfig(split="train"), "There is no text in"),
        (CollectConfig(window=17), "longer than the model's context of 16"),
        (CollectConfig(window=1), "no room for text"),
        (CollectConfig(block=65_537), "at most 1,048,576 tokens, which is --block 65536"),
        (CollectConfig(parts=("opera",)), "has no part 'opera'"),
    ],
)
def test_what_cannot_be_collected_is_refused(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, config: CollectConfig, said: str
) -> None:
    with pytest.raises(RunnerError, match=said):
        collect(checkpoint, corpus, tmp_path / "run", config)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kept": 0},
        {"kept": 1_001},
        {"window": 0},
        {"window": -3},
        {"tokens": 0},
        {"block": 0},
        {"block": 10**30},
        {"window": 10**30},
        {"tokens": 10**30},
        {"directions": 10_001},
        {"directions": 10**30},
        {"directions_seed": 10**30},
        {"split": "all"},
        {"parts": ()},
    ],
)
def test_a_senseless_wish_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(RunnerError, match=next(iter(wrong))[:-1]):
        CollectConfig(**wrong)  # type: ignore[arg-type]


def test_another_tokenizer_is_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    other = make_corpus(tmp_path / "other", ["quite another text"] * 3, shares={"collect": 1.0})
    with pytest.raises(RunnerError, match="was made with"):
        collect(checkpoint, other, tmp_path / "run", CONFIG)


# ---- stopping and going on ------------------------------------------------------------------------

SLOW = """
import sys, time
from pathlib import Path
from model_runner import collect
from model_runner.checkpoint import load_checkpoint
from model_runner.collect_config import CollectConfig
from model_runner.corpus.store import open_corpus

collect.SAVE_SECONDS = 0.0
read_layer = collect.read_layer
def slowly(*arguments):
    read_layer(*arguments)
    time.sleep(0.02)
collect.read_layer = slowly
model, corpus, out = map(Path, sys.argv[1:])
collect.collect(load_checkpoint(model), open_corpus(corpus), out, CollectConfig(kept=5, block=3))
"""


def test_killed_and_resumed_gives_the_same_bytes(corpus: Corpus, tmp_path: Path) -> None:
    checkpoint = make_checkpoint(tmp_path / "model", corpus)
    whole = collect(checkpoint, corpus, tmp_path / "whole" / "run", CONFIG)
    folder = tmp_path / "killed" / "run"
    arguments = [sys.executable, "-c", SLOW, str(tmp_path / "model"), str(corpus.folder), str(folder)]
    process = subprocess.Popen(arguments, env={**os.environ, "OMP_NUM_THREADS": "1"})
    deadline = time.monotonic() + 60
    while not (folder / STATE_NAME).exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (folder / INFO_NAME).exists()
    assert (folder / STATE_NAME).exists()
    assert collect(checkpoint, corpus, folder, CONFIG) == whole
    assert _files(folder) == _files(tmp_path / "whole" / "run")


class Stop(Exception):
    """Raised where a test wants a collection to stop."""


def _begin(
    checkpoint: Checkpoint,
    corpus: Corpus,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    blocks: int,
    config: CollectConfig = CONFIG,
) -> None:
    """Collect `blocks` blocks with a state after each, then stop in the middle of the next."""
    monkeypatch.setattr(collecting, "SAVE_SECONDS", -1.0)
    real, layers = collecting.read_layer, len(checkpoint.model.norms)
    left = [blocks * layers + layers - 1]

    def stopping(*arguments: object) -> None:
        if not left[0]:
            raise Stop
        left[0] -= 1
        real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(collecting, "read_layer", stopping)
    with pytest.raises(Stop):
        collect(checkpoint, corpus, folder, config)
    monkeypatch.setattr(collecting, "read_layer", real)


@pytest.mark.parametrize("config", [CONFIG, COMPLETE], ids=["top", "complete"])
def test_resuming_from_any_block_gives_the_same_bytes(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: CollectConfig
) -> None:
    collect(checkpoint, corpus, tmp_path / "whole" / "run", config)
    for blocks in (1, 5, 6, 12):
        folder = tmp_path / str(blocks) / "run"
        _begin(checkpoint, corpus, folder, monkeypatch, blocks, config)
        collect(checkpoint, corpus, folder, config)
        assert _files(folder) == _files(tmp_path / "whole" / "run")


def test_killed_before_it_could_tidy_up(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _begin(checkpoint, corpus, tmp_path / "run", monkeypatch, 3)
    with monkeypatch.context() as killed:
        killed.setattr(collecting, "forget_states", _stop)
        with pytest.raises(Stop):
            collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    assert list((tmp_path / "run").glob("collecting*"))
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    assert not list((tmp_path / "run").glob("collecting*"))


def _stop(_: object) -> None:
    raise Stop


def test_other_settings_are_refused_on_the_way_and_at_the_end(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _begin(checkpoint, corpus, tmp_path / "run", monkeypatch, 3)
    for change in ({"kept": 6}, {"block": 4}, {"tokens": 800}, {"parts": ("code",)}):
        with pytest.raises(RunnerError, match=f"begun with {next(iter(change))}"):
            collect(checkpoint, corpus, tmp_path / "run", replace(CONFIG, **change))
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    with pytest.raises(RunnerError, match="begun with kept 5 and is now asked for 6"):
        collect(checkpoint, corpus, tmp_path / "run", replace(CONFIG, kept=6))


@pytest.mark.parametrize("damage", ["empty", "half", "tail", "flip"])
def test_a_damaged_state_is_refused(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    _begin(checkpoint, corpus, tmp_path / "run", monkeypatch, 3)
    path = tmp_path / "run" / STATE_NAME
    whole = bytearray(path.read_bytes())
    if damage == "flip":
        whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(whole[: {"empty": 0, "half": len(whole) // 2, "tail": len(whole) - 9}.get(damage)])
    with pytest.raises(RunnerError, match=f"{STATE_NAME} is damaged"):
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    path.unlink()
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)


def test_two_at_once_do_not_write_into_one_folder(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with hold(folder), pytest.raises(RunnerError, match="Another process is writing into"):
        collect(checkpoint, corpus, folder, CONFIG)
    collect(checkpoint, corpus, folder, CONFIG)
    with hold(folder):
        assert collect(checkpoint, corpus, folder, CONFIG).kept == CONFIG.kept


def test_a_run_in_the_folder_one_is_in_has_its_name(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert collect(checkpoint, corpus, Path("."), CONFIG).name == tmp_path.name


def test_what_does_not_fit_into_memory_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_much(_: object) -> None:
        np.zeros(1 << 50)

    monkeypatch.setattr("model_runner.collect_command.run", too_much)
    assert main(["collect", "--checkpoint", "x", "--corpus", "x", "--out", "x"]) == 2
    assert "There is not enough memory for this: Unable to allocate" in capsys.readouterr().err


def test_what_pytorch_has_no_memory_for_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("model_runner.collect_command.run", lambda _: torch.empty(1 << 55))
    assert main(["collect", "--checkpoint", "x", "--corpus", "x", "--out", "x"]) == 2
    assert "There is not enough memory for this" in capsys.readouterr().err
    monkeypatch.setattr("model_runner.collect_command.run", lambda _: torch.zeros(2) @ torch.zeros(3))
    with pytest.raises(RuntimeError, match="size"):
        main(["collect", "--checkpoint", "x", "--corpus", "x", "--out", "x"])


def test_a_finished_folder_that_is_damaged_is_refused(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    (tmp_path / "run" / "top.tokens.npy").unlink()
    with pytest.raises(RunnerError, match=r"top\.tokens\.npy is missing"):
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)


def test_a_folder_that_cannot_be_written_is_refused(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file stands where the folder should be")
    with pytest.raises(RunnerError, match="could not be written"):
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)


def test_the_command_collects_and_says_what_came_of_it(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_checkpoint(tmp_path / "model", corpus)
    asked = ["collect", "--checkpoint", str(tmp_path / "model"), "--corpus", str(corpus.folder)]
    assert main([*asked, "--out", str(tmp_path / "run"), "--kept", "5", "--parts", "code"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("64 units over ")
    assert open_run(tmp_path / "run").info.digest in said
    assert main([*asked, "--out", str(tmp_path / "run"), "--kept", "6", "--parts", "code"]) == 2
    assert "kept 5 and is now asked for 6" in capsys.readouterr().err


# ---- disks and folders that fail ------------------------------------------------------------------

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="/dev/full stands for a full disk")


@needs_full
def test_a_disk_full_while_the_state_is_written_keeps_the_state_before(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a" / "run"
    _begin(checkpoint, corpus, folder, monkeypatch, 3)
    before = (folder / STATE_NAME).read_bytes()
    partial = folder / f"{STATE_NAME}.partial"
    partial.symlink_to(FULL)
    monkeypatch.setattr(collecting, "SAVE_SECONDS", -1.0)
    with pytest.raises(RunnerError, match=r"written: No space left on device\..*run the same command again"):
        collect(checkpoint, corpus, folder, CONFIG)
    assert (folder / STATE_NAME).read_bytes() == before
    partial.unlink()
    collect(checkpoint, corpus, folder, CONFIG)
    collect(checkpoint, corpus, tmp_path / "b" / "run", CONFIG)
    assert _files(folder) == _files(tmp_path / "b" / "run")


@needs_full
@pytest.mark.parametrize("name", ["units.npy", "top.activations.npy", "run.json.part"])
def test_a_disk_full_while_the_run_is_written_keeps_what_was_collected(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = tmp_path / "a" / "run"
    _begin(checkpoint, corpus, folder, monkeypatch, 3)
    (folder / name).symlink_to(FULL)
    with pytest.raises(RunnerError, match="could not be written: "):
        collect(checkpoint, corpus, folder, CONFIG)
    assert (folder / STATE_NAME).exists()
    assert not (folder / INFO_NAME).exists()
    (folder / name).unlink(missing_ok=True)
    collect(checkpoint, corpus, folder, CONFIG)
    collect(checkpoint, corpus, tmp_path / "b" / "run", CONFIG)
    assert _files(folder) == _files(tmp_path / "b" / "run")


def test_a_read_only_folder_is_refused_before_the_work(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    monkeypatch.setattr(collecting, "read_blocks", None)
    with (
        _as_nobody(folder),
        pytest.raises(RunnerError, match=r"could not be written: Permission denied\. Choose another"),
    ):
        collect(checkpoint, corpus, folder, CONFIG)
    assert not list(folder.iterdir())


@contextmanager
def _as_nobody(folder: Path) -> Iterator[None]:
    """A folder that its own user may read only; the superuser, who may do all, becomes nobody for a while."""
    folder.chmod(0o555)
    superuser = os.geteuid() == 0
    if superuser:
        for above in folder.parents:
            if above.stat().st_mode & 0o011 != 0o011:
                above.chmod(above.stat().st_mode | 0o011)
        os.seteuid(65534)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)
        folder.chmod(0o755)


@pytest.mark.parametrize("name", ["run.json", "units.npy", "top.snippets.npy", "token_bytes.npy"])
def test_a_finished_folder_cut_short_is_refused_and_left_alone(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, name: str
) -> None:
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    path = tmp_path / "run" / name
    path.write_bytes(path.read_bytes()[:-9])
    before = _files(tmp_path / "run")
    with pytest.raises(RunnerError, match=rf"{name}.*(Delete|damaged)"):
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    assert _files(tmp_path / "run") == before
    (tmp_path / "run" / INFO_NAME).unlink()
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)


def test_another_checkpoint_is_refused_on_the_way_and_at_the_end(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_checkpoint(tmp_path / "other", corpus, "gelu")
    _begin(checkpoint, corpus, tmp_path / "run", monkeypatch, 3)
    for _ in range(2):
        before = _files(tmp_path / "run")
        with pytest.raises(RunnerError, match="begun with checkpoint_digest"):
            collect(other, corpus, tmp_path / "run", CONFIG)
        assert {**_files(tmp_path / "run"), f"{STATE_NAME}.partial": b""} == {**before, f"{STATE_NAME}.partial": b""}
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)
