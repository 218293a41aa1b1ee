"""Collecting the top snippets against a full forward with logits, on a small model with a large vocabulary."""

import statistics

import torch

from benchmarks.material import some_corpus, untrained
from benchmarks.outcome import Outcome
from benchmarks.passes import read_logits, timed_pass
from model_runner.contexts import cut_contexts, first_documents

NAME, TARGET = "collect-vs-full", 0.65
TOKENS, BLOCK, ROUNDS, LAYERS = 1_000_000, 8, 1, 2


def measure() -> Outcome:
    """Of two layers of width 256 and the corpus's vocabulary. The full forward has the same blocks and workers."""
    corpus = some_corpus(TOKENS)
    contexts = cut_contexts(corpus, first_documents(corpus, corpus.in_split("collect"), TOKENS), 256, BLOCK)
    model = untrained("solu_ln", corpus.info.vocab_size, layers=LAYERS)
    rounds = [timed_pass(model, contexts, last=read_logits) for _ in range(ROUNDS)]
    ratio = statistics.median(each.ratio for each in rounds)
    tokens = int(corpus.documents["length"][contexts.documents_N].sum())
    detail = {
        "tokens": tokens,
        "vocabulary": corpus.info.vocab_size,
        "collected_tokens_per_second": round(tokens / statistics.median(each.collecting.clock for each in rounds)),
        "rounds": [{"ratio": round(each.ratio, 4), **each.detail} for each in rounds],
        "threads": torch.get_num_threads(),
    }
    return Outcome(NAME, round(ratio, 4), TARGET, ratio <= TARGET, detail)
