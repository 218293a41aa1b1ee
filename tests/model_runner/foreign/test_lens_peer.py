"""The benchmark's comparison of two collections: a list that differs is seen, and a tie is none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from benchmarks import __main__ as command
from benchmarks.collect_vs_transformerlens import NAME
from benchmarks.lens_peer import cached, differing, lens_model, top_of
from model_runner.collect.collect import taking
from model_runner.collect.config import CollectConfig, settle_config
from model_runner.collect.contexts import Block, cut_contexts
from model_runner.collect.group import new_groups, settle_groups
from model_runner.collect.top import TopLists
from model_runner.corpus.store import Corpus
from tests.model_runner.models import scrambled, small_config, small_corpus

KEPT = 5


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("corpus") / "c")


Collected = tuple[list[TopLists], NDArray[np.float32], list[Block], Corpus]


@pytest.fixture
def collected(corpus: Corpus) -> Collected:
    """Our lists, and the activations that they were made from, put together as the other side does it."""
    model = scrambled(small_config(vocab_size=corpus.info.vocab_size))
    settings = replace(settle_config(CollectConfig(kept=KEPT, split="collect"), _Subject(model, corpus), corpus))
    contexts = cut_contexts(corpus, corpus.in_split("collect"), 16, 8)
    groups = new_groups(model, model.config.hidden, settings)
    blocks, parts = [contexts.block(number) for number in contexts.numbers], []
    take = taking(model, groups, corpus)
    for block in blocks:
        for layer, acts_BTF in enumerate(model.activations(torch.from_numpy(block.tokens_BT))):
            take(layer, acts_BTF, block)
        with torch.inference_mode():
            parts.append(torch.cat(list(model.activations(torch.from_numpy(block.tokens_BT))), dim=-1))
    settle_groups(groups, -1)
    acts_CTF, best_KF = top_of(parts, blocks, len(corpus.documents), KEPT)
    assert best_KF.shape == (KEPT, 2 * model.config.hidden)
    return [group.highest.lists for group in groups], acts_CTF.numpy(), blocks, corpus


class _Subject:
    """As much of a subject as settings ask for."""

    def __init__(self, model: Any, corpus: Corpus) -> None:
        self.model, self.digest, self.about = model, "made up", self
        self.context, self.tokenizer_digest = model.config.context, corpus.info.tokenizer_digest


def test_our_lists_are_those_of_the_cache(collected: Collected) -> None:
    assert differing(*collected) == (0, 0)


def test_a_list_with_another_value_or_place_is_seen(collected: Collected) -> None:
    lists, *others = collected
    lists[0].value_FK[3, 1] += 0.01
    lists[1].peak_FK[7, 0] = (lists[1].peak_FK[7, 0] + 1) % 16
    assert differing(lists, *others) == (2, 0)


def test_two_equal_values_may_stand_in_either_order(collected: Collected) -> None:
    lists, acts_CTF, blocks, corpus = collected
    where = {(int(d), int(s)): n for n, (d, s) in enumerate(_places(blocks))}
    first, second = (where[int(lists[0].document_FK[0, k]), int(lists[0].start_FK[0, k])] for k in (0, 1))
    value = acts_CTF[first, lists[0].peak_FK[0, 0], 0]
    acts_CTF[second, lists[0].peak_FK[0, 1], 0] = lists[0].value_FK[0, 1] = value
    for name in ("document_FK", "start_FK", "peak_FK"):
        array = getattr(lists[0], name)
        array[0, [0, 1]] = array[0, [1, 0]]
    wrong, reordered = differing(lists, acts_CTF, blocks, corpus)
    assert wrong == 0
    assert reordered <= 1


def _places(blocks: list[Block]) -> list[tuple[np.int64, np.int64]]:
    return [place for block in blocks for place in zip(block.document_B, block.start_B, strict=True)]


def test_without_transformerlens_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.lens_peer.find_spec", lambda _: None)
    assert command.main([f"ONLY={NAME}"]) == 2
    assert "pip install -e '.[peers]'" in capsys.readouterr().err


def test_the_other_side_caches_what_we_read() -> None:
    pytest.importorskip("transformer_lens", reason="needs the extra [peers]")
    model = scrambled(small_config())
    tokens_BT = torch.randint(384, (2, 16), generator=torch.Generator().manual_seed(0))
    for logits in (True, False):
        acts_BTF = cached(lens_model(model), tokens_BT, logits)
        with torch.inference_mode():
            torch.testing.assert_close(
                acts_BTF, torch.cat(list(model.activations(tokens_BT)), -1), rtol=1e-4, atol=1e-5
            )
