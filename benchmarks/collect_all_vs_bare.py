"""Complete collection (top, lowest, bands, histogram and moments) against the bare forward, at width 512."""

import statistics

import torch

from benchmarks.material import some_corpus, untrained
from benchmarks.outcome import Outcome
from benchmarks.passes import timed_pass
from model_runner.contexts import cut_contexts, first_documents

NAME, TARGET = "collect-all-vs-bare", 1.4
TOKENS, BLOCK, ROUNDS, WIDTH = 1_000_000, 8, 1, 512


def measure() -> Outcome:
    """On SoLU+LN, whose windows have two sides."""
    corpus = some_corpus(TOKENS)
    contexts = cut_contexts(corpus, first_documents(corpus, corpus.in_split("collect"), TOKENS), 256, BLOCK)
    model = untrained("solu_ln", corpus.info.vocab_size, width=WIDTH)
    rounds = [timed_pass(model, contexts, complete=True) for _ in range(ROUNDS)]
    ratio = statistics.median(each.ratio for each in rounds)
    tokens = int(corpus.documents["length"][contexts.documents_N].sum())
    detail = {
        "tokens": tokens,
        "bare_tokens_per_second": round(tokens / statistics.median(each.bare.clock for each in rounds)),
        "rounds": [{"ratio": round(each.ratio, 4), **each.detail} for each in rounds],
        "threads": torch.get_num_threads(),
    }
    return Outcome(NAME, round(ratio, 4), TARGET, ratio <= TARGET, detail)
