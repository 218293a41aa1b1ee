"""Collecting the top snippets, windows stored, against the bare forward up to the activations.

Blocks of the same tokens go through both in turns, so that whatever else the machine does hits both alike.
The whole pass counts, its costly beginning too, when every context enters the lists.
"""

import statistics
import time

import torch

from benchmarks.material import some_corpus, untrained
from benchmarks.outcome import Outcome
from model_runner.capture import Gathered, nothing_gathered
from model_runner.collect import read_block, settle_all
from model_runner.config import MLPName
from model_runner.contexts import Block, Contexts, cut_contexts, first_documents
from model_runner.model import Transformer

NAME, TARGET = "collect-vs-bare", 1.08
TOKENS, KEPT, BLOCK, ROUNDS = 1_000_000, 20, 8, 3
ARMS: tuple[MLPName, ...] = ("gelu", "solu_ln")


def measure() -> Outcome:
    """The worse ratio of a GELU model and of a SoLU+LN model, whose windows have two sides."""
    corpus = some_corpus(TOKENS)
    contexts = cut_contexts(corpus, first_documents(corpus, corpus.in_split("collect"), TOKENS), 256, BLOCK)
    models = {arm: untrained(arm, corpus.info.vocab_size) for arm in ARMS}
    rounds = [{arm: _pass(model, contexts) for arm, model in models.items()} for _ in range(ROUNDS)]
    ratios = {arm: statistics.median(each[arm][1] / each[arm][0] for each in rounds) for arm in ARMS}
    bare = {arm: statistics.median(each[arm][0] for each in rounds) for arm in ARMS}
    tokens = int(corpus.documents["length"][contexts.documents_N].sum())
    ratio = max(ratios.values())
    detail = {
        "ratios": {arm: round(value, 4) for arm, value in ratios.items()},
        "bare_tokens_per_second": {arm: round(tokens / seconds) for arm, seconds in bare.items()},
        "tokens": tokens,
        "rounds": [{arm: round(c / b, 4) for arm, (b, c) in each.items()} for each in rounds],
        "threads": torch.get_num_threads(),
    }
    return Outcome(NAME, round(ratio, 4), TARGET, ratio <= TARGET, detail)


def _pass(model: Transformer, contexts: Contexts) -> tuple[float, float]:
    """Seconds of the bare forward and of collecting, over all blocks."""
    sides = 2 if hasattr(model.blocks[0].mlp, "norm") else 1
    layers = [nothing_gathered(model.config.hidden, KEPT, contexts.window, sides) for _ in model.blocks]
    bare, collecting = 0.0, 0.0
    for number in range(contexts.blocks):
        # Who goes first changes, since the second finds the tokens in the cache.
        if number % 2:
            bare += _timed_bare(model, contexts.block(number))
            collecting += _timed_collect(model, contexts, number, layers)
        else:
            collecting += _timed_collect(model, contexts, number, layers)
            bare += _timed_bare(model, contexts.block(number))
    started = time.perf_counter()
    settle_all(layers, -1)
    return bare, collecting + time.perf_counter() - started


@torch.inference_mode()
def _timed_bare(model: Transformer, block: Block) -> float:
    started = time.perf_counter()
    for _ in model.activations(torch.from_numpy(block.tokens_BT)):
        pass
    return time.perf_counter() - started


def _timed_collect(model: Transformer, contexts: Contexts, number: int, layers: list[Gathered]) -> float:
    started = time.perf_counter()
    block = contexts.block(number)
    read_block(model, block, layers, contexts.corpus)
    return time.perf_counter() - started
