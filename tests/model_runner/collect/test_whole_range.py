"""What a complete collection holds beside the top: the lowest, the histogram, the bands, random directions."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from model_runner.checkpoint import Checkpoint
from model_runner.collect.banded import BANDS
from model_runner.collect.collect import collect
from model_runner.collect.directions import random_directions
from model_runner.collect.group import BAND_KEPT
from model_runner.corpus.store import Corpus
from model_runner.run.folder import open_run
from tests.model_runner.brute_force import brute_force
from tests.model_runner.collect.collecting import COMPLETE, CONFIG, SHAPE_NOISE, in_blocks


def test_the_lowest_activations_are_the_top_of_the_negated_ones(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path
) -> None:
    collect(checkpoint, corpus, tmp_path / "run", COMPLETE)
    run = open_run(tmp_path / "run")
    for layer in range(2):
        documents = [made._replace(acts_TF=-made.acts_TF) for made in in_blocks(checkpoint, corpus, layer)]
        for index in range(checkpoint.config.hidden):
            wanted = [entry for entry in brute_force(documents, index, CONFIG.kept) if entry.value > 0]
            snippets = run.snippets("negative", layer * checkpoint.config.hidden + index)
            assert [(-s.value, s.document, s.start + s.peak - 1) for s in snippets] == wanted
            assert all(s.activations_W[s.peak] == s.value for s in snippets)


def test_histogram_moments_and_extremes_are_exact(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    info = collect(checkpoint, corpus, tmp_path / "run", COMPLETE)
    run = open_run(tmp_path / "run")
    for layer in range(2):
        acts_NF = np.concatenate([made.acts_TF for made in in_blocks(checkpoint, corpus, layer)])
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
