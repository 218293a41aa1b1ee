"""Names that a reader knows for arms and sizes, and the order in which arms are listed."""

KNOWN = ("gelu", "solu_ln", "gelu_ln", "solu")
"""The order of arms after the baseline; it gives each its colour and shape."""
NAMES = {"gelu": "GELU", "solu_ln": "SoLU + LN", "gelu_ln": "LN only", "solu": "SoLU without LN"}


def arm_name(arm: str) -> str:
    """An arm as a reader knows it."""
    return NAMES.get(arm, arm)


def in_order(arms: set[str], baseline: str) -> list[str]:
    """The baseline, the arms we know, the rest by name."""
    return sorted(arms, key=lambda arm: (arm != baseline, KNOWN.index(arm) if arm in KNOWN else len(KNOWN), arm))


def size_name(parameters: float) -> str:
    """A number of parameters as it is said: 812k, 3.1M, 50B."""
    for unit, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if parameters >= 0.9995 * unit:
            return f"{parameters / unit:.{3 if parameters >= 99.5 * unit else 2}g}{letter}"
    return f"{parameters:.0f}"
