"""Names that a reader knows for conditions."""

CONDITIONS = {
    "gelu": "GELU",
    "gelu_ln": "GELU + LN",
    "solu": "SoLU",
    "solu_ln": "SoLU + LN",
    "legible": "Legible",
}


def condition_name(condition: str) -> str:
    """GELU for gelu; a condition we have no name for keeps its own."""
    return CONDITIONS.get(condition, condition)
