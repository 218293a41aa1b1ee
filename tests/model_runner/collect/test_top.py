"""The strongest snippets of every unit, against sorting everything."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model_runner.architecture.config import MLPName
from model_runner.checkpoint import Checkpoint
from model_runner.collect import collect as collecting
from model_runner.collect.collect import collect
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.run.arrays import STATES
from model_runner.run.folder import open_run
from model_runner.run.info import INFO_NAME
from tests.corpora import make_corpus
from tests.model_runner.brute_force import brute_force
from tests.model_runner.collect.collecting import CONFIG, SHAPE_NOISE, WINDOW, files_of, in_blocks, make_checkpoint


@pytest.mark.parametrize("mlp", ["gelu", "solu", "solu_ln", "gelu_ln"])
def test_the_run_holds_the_top_snippets_of_the_definition(corpus: Corpus, tmp_path: Path, mlp: MLPName) -> None:
    checkpoint = make_checkpoint(tmp_path / "model", corpus, mlp)
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    run = open_run(tmp_path / "run")
    for layer in range(2):
        documents = in_blocks(checkpoint, corpus, layer)
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


def test_collecting_twice_gives_the_same_bytes_and_the_second_time_reads(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = collect(checkpoint, corpus, tmp_path / "a" / "run", CONFIG)
    collect(checkpoint, corpus, tmp_path / "b" / "run", CONFIG)
    assert files_of(tmp_path / "a" / "run") == files_of(tmp_path / "b" / "run")
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
