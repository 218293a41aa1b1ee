"""Collecting the top snippets, windows stored, against the bare forward up to the activations.

Blocks of the same tokens go through both in turns, so that whatever else the machine does hits both alike.
The whole pass counts, its costly beginning too, when every context enters the lists.
"""

import statistics

import torch

from benchmarks.material import some_corpus, untrained
from benchmarks.outcome import Outcome
from benchmarks.passes import timed_pass
from model_runner.config import MLPName
from model_runner.contexts import cut_contexts, first_documents

NAME, TARGET = "collect-vs-bare", 1.08
TOKENS, BLOCK, ROUNDS = 1_000_000, 8, 3
ARMS: tuple[MLPName, ...] = ("gelu", "solu_ln")


def measure() -> Outcome:
    """The worse ratio of a GELU model and of a SoLU+LN model, whose windows have two sides."""
    corpus = some_corpus(TOKENS)
    contexts = cut_contexts(corpus, first_documents(corpus, corpus.in_split("collect"), TOKENS), 256, BLOCK)
    models = {arm: untrained(arm, corpus.info.vocab_size) for arm in ARMS}
    rounds = {arm: [timed_pass(model, contexts) for _ in range(ROUNDS)] for arm, model in models.items()}
    ratios = {arm: statistics.median(each.ratio for each in passes) for arm, passes in rounds.items()}
    tokens = int(corpus.documents["length"][contexts.documents_N].sum())
    bare = {arm: statistics.median(each.bare.clock for each in passes) for arm, passes in rounds.items()}
    detail = {
        "ratios": {arm: round(value, 4) for arm, value in ratios.items()},
        "bare_tokens_per_second": {arm: round(tokens / seconds) for arm, seconds in bare.items()},
        "tokens": tokens,
        "rounds": {arm: [{"ratio": round(each.ratio, 4), **each.detail} for each in rounds[arm]] for arm in ARMS},
        "threads": torch.get_num_threads(),
    }
    ratio = max(ratios.values())
    return Outcome(NAME, round(ratio, 4), TARGET, ratio <= TARGET, detail)
