"""Small studies for the tests of statistics: a table of verdicts from a description."""

import numpy as np
import pandas as pd


def study(
    effect: float = 1.0,
    sizes: tuple[int, ...] = (1000,),
    neurons: int = 60,
    raters: int = 6,
    each: int = 3,
    seed: int = 0,
) -> pd.DataFrame:
    """Two conditions; `effect` is on the logit scale; each neuron gets `each` different raters."""
    rng = np.random.default_rng(seed)
    rows = []
    for arm, (condition, size) in enumerate((c, s) for s in sizes for c in ("gelu", "solu_ln")):
        shift = effect / 2 if condition == "solu_ln" else -effect / 2
        for neuron in range(neurons):
            logit = shift + rng.normal(0, 1.5)
            chosen = rng.permutation(raters)[:each]
            yes = rng.random(each) < 1 / (1 + np.exp(-logit))
            rows += [(arm * 10_000 + neuron, arm, condition, size, *pair) for pair in zip(chosen, yes, strict=True)]
    table = pd.DataFrame(rows, columns=["neuron", "arm", "condition", "size", "rater", "yes"])
    return table.assign(
        model_seed=0,
        rater_kind="human",
        kind="neuron",
        verdict=np.where(table["yes"], "INTERPRETABLE", "NOT_INTERPRETABLE"),
    ).drop(columns="yes")


def counted_study(yes: dict[str, tuple[int, int]], size: int = 1000) -> pd.DataFrame:
    """One verdict a neuron, one rater: condition -> (interpretable, neurons)."""
    rows = [(condition, arm, neuron < k) for arm, (condition, (k, n)) in enumerate(yes.items()) for neuron in range(n)]
    table = pd.DataFrame(rows, columns=["condition", "arm", "yes"])
    return table.assign(
        neuron=np.arange(len(rows)),
        size=size,
        model_seed=0,
        rater=1,
        rater_kind="human",
        kind="neuron",
        verdict=np.where(table["yes"], "INTERPRETABLE", "NOT_INTERPRETABLE"),
    ).drop(columns="yes")
