"""Collecting the top snippets, windows stored, against the bare forward up to the activations.

Blocks of the same tokens go through both in turns, so that whatever else the machine does hits both alike.
The whole pass counts, its costly beginning too, when every context enters the lists.
"""

from typing import Any

from benchmarks.material import some_corpus, untrained
from benchmarks.outcome import Outcome
from benchmarks.passes import outcome_of, some_contexts, timed_pass
from model_runner.architecture.config import MLPName

NAME, TARGET = "collect-vs-bare", 1.08
TOKENS, ROUNDS = 1_000_000, 3
ARMS: tuple[MLPName, ...] = ("gelu", "solu_ln")


def measure() -> Outcome:
    """The worse ratio of a GELU model and of a SoLU+LN model, whose windows have two sides."""
    corpus = some_corpus(TOKENS)
    contexts = some_contexts(corpus, TOKENS)
    models = {arm: untrained(arm, corpus.info.vocab_size) for arm in ARMS}
    measured = {
        arm: outcome_of(NAME, TARGET, corpus, contexts, [timed_pass(model, contexts) for _ in range(ROUNDS)])
        for arm, model in models.items()
    }
    worst = max(measured.values(), key=lambda outcome: outcome.ratio)
    detail: dict[str, Any] = {arm: {"ratio": outcome.ratio, **outcome.detail} for arm, outcome in measured.items()}
    return Outcome(NAME, worst.ratio, TARGET, worst.ok, detail)
