"""Complete collection (top, lowest, bands, histogram and moments) against the bare forward, at width 512."""

from benchmarks.material import some_corpus, untrained
from benchmarks.outcome import Outcome
from benchmarks.passes import outcome_of, some_contexts, timed_pass

NAME, TARGET = "collect-all-vs-bare", 1.4
TOKENS, ROUNDS, WIDTH = 1_000_000, 1, 512


def measure() -> Outcome:
    """On SoLU+LN, whose windows have two sides."""
    corpus = some_corpus(TOKENS)
    contexts = some_contexts(corpus, TOKENS)
    model = untrained("solu_ln", corpus.info.vocab_size, width=WIDTH)
    rounds = [timed_pass(model, contexts, complete=True) for _ in range(ROUNDS)]
    return outcome_of(NAME, TARGET, corpus, contexts, rounds)
