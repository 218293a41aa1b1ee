"""Complete collection (top, lowest, bands, histogram and moments) against the bare forward, at width 512."""

from benchmarks.material import some_corpus, untrained
from benchmarks.outcome import Outcome
from benchmarks.passes import outcome_of, timed_pass
from model_runner.contexts import cut_contexts, first_documents

NAME, TARGET = "collect-all-vs-bare", 1.4
TOKENS, BLOCK, ROUNDS, WIDTH = 1_000_000, 8, 1, 512


def measure() -> Outcome:
    """On SoLU+LN, whose windows have two sides."""
    corpus = some_corpus(TOKENS)
    contexts = cut_contexts(corpus, first_documents(corpus, corpus.in_split("collect"), TOKENS), 256, BLOCK)
    model = untrained("solu_ln", corpus.info.vocab_size, width=WIDTH)
    rounds = [timed_pass(model, contexts, complete=True) for _ in range(ROUNDS)]
    return outcome_of(NAME, TARGET, corpus, contexts, rounds)
