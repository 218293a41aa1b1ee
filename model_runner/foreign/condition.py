"""What a foreign model's hidden units do, in a word that tells arms apart."""

from collections.abc import Mapping
from typing import Any

from model_runner.errors import RunnerError

SETTINGS = ("hidden_activation", "hidden_act", "activation_function", "activation")
"""Where configs of different families keep the name of the activation function; the first that is set counts."""
SAME = {
    "gelu_python": "gelu",
    "gelu_fast": "gelu_new",
    "gelu_accurate": "gelu_new",
    "gelu_pytorch_tanh": "gelu_new",
    "gelu_python_tanh": "gelu_new",
    "swish": "silu",
}
"""Names of one function. GELU itself, with the error function, is "gelu"; its approximation by tanh is "gelu_new":
these are two functions and so two conditions."""
FIXED = {"bloom": "gelu_new", "mpt": "gelu"}
"""Families whose function is written in their code and not in their config."""


def condition_of(config: Mapping[str, Any], gated: bool) -> str:
    """The condition of a model with this Hugging Face config, such as gelu_new or silu_gated.

    Raises RunnerError when the config does not name its activation function.
    """
    named = next((config[name] for name in SETTINGS if config.get(name)), FIXED.get(config.get("model_type", "")))
    if not isinstance(named, str):
        raise RunnerError(
            f"The config of this {config.get('model_type', 'unnamed')} model does not name its activation function "
            f"(none of {', '.join(SETTINGS)}). Say it with --condition."
        )
    return SAME.get(named, named) + ("_gated" if gated else "")
