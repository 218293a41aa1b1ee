"""Names that a reader knows for conditions."""

CONDITIONS = {
    "gelu": "GELU",
    "gelu_ln": "GELU + LN",
    "solu": "SoLU",
    "solu_ln": "SoLU + LN",
    "legible": "Legible",
    "exp_ln": "SoLU + LN (exponential)",
    # Of other people's models. GELU and its approximation by tanh are two functions.
    "gelu_new": "GELU (tanh)",
    "quick_gelu": "GELU (sigmoid)",
    "silu": "SiLU",
    "relu": "ReLU",
    "relu2": "ReLU²",
    # Gated units have the names of Shazeer 2020, "GLU variants improve transformer".
    "silu_gated": "SwiGLU",
    "gelu_gated": "GEGLU",
    "gelu_new_gated": "GEGLU (tanh)",
    "relu_gated": "ReGLU",
}


def condition_name(condition: str) -> str:
    """GELU for gelu; a condition we have no name for keeps its own."""
    return CONDITIONS.get(condition, condition)
