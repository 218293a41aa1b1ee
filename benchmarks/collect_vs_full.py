"""Collecting the top snippets against a full forward with logits, on a small model with a large vocabulary."""

from benchmarks.material import some_corpus, untrained
from benchmarks.outcome import Outcome
from benchmarks.passes import outcome_of, read_logits, some_contexts, timed_pass

NAME, TARGET = "collect-vs-full", 0.65
TOKENS, ROUNDS, LAYERS = 1_000_000, 1, 2


def measure() -> Outcome:
    """Of two layers of width 256 and the corpus's vocabulary. The full forward has the same blocks and workers."""
    corpus = some_corpus(TOKENS)
    contexts = some_contexts(corpus, TOKENS)
    model = untrained("solu_ln", corpus.info.vocab_size, layers=LAYERS)
    rounds = [timed_pass(model, contexts, last=read_logits) for _ in range(ROUNDS)]
    return outcome_of(NAME, TARGET, corpus, contexts, rounds)
