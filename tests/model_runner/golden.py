"""The self-check's values, worked out in float64 from the published formulas. `python -m tests.model_runner.golden`
writes them; whoever adds an MLP adds its formula here."""

# Shape suffixes: T tokens, D model width, E head width, F neurons.
import json
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from model_runner.self_check.self_check import GOLDEN, TOKENS, tiny_model

Numbers = NDArray[np.float64]

X = (-8.0, -3.0, -1.0, -0.75, -0.1, 0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 8.0)


def gelu(x: float) -> float:
    """x times the normal distribution function (Hendrycks and Gimpel 2016, section 2)."""
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def gelu_new(x: float) -> float:
    """The approximation by tanh (the same, section 2)."""
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: float) -> float:
    return x / (1 + math.exp(-x))


def relu(x: float) -> float:
    return max(x, 0.0)


def each(function: Callable[[float], float], x: Numbers) -> Numbers:
    values: Numbers = np.vectorize(function, otypes=[np.float64])(x)
    return values


def solu(x: Numbers) -> Numbers:
    """x times its softmax over the last dimension (Elhage et al. 2022)."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    values: Numbers = x * powers / powers.sum(axis=-1, keepdims=True)
    return values


def exponential(x: Numbers) -> Numbers:
    """x * exp(x) without the softmax's sum, moved by the largest x so that nothing overflows."""
    values: Numbers = x * np.exp(x - x.max(axis=-1, keepdims=True))
    return values


MLPS: dict[str, Callable[[Numbers], Numbers]] = {
    "gelu": lambda x_TF: each(gelu, x_TF),
    "gelu_ln": lambda x_TF: each(gelu, x_TF),
    "solu": solu,
    "solu_ln": solu,
    "exp_ln": exponential,
}
"""What is read of each MLP; the norm comes after it."""


def golden() -> dict[str, dict[str, list[float] | list[list[float]]]]:
    x = np.array(X)
    functions = {function.__name__: each(function, x).tolist() for function in (gelu, gelu_new, silu, relu)}
    models = {name: act(before_activation(name)).tolist() for name, act in MLPS.items()}
    return {"functions": {"x": x.tolist(), **functions, "solu": solu(x).tolist()}, "models": models}


def before_activation(mlp: str) -> Numbers:
    """What the tiny model's neurons are given: embedding, attention with rotary positions, norm, matrix."""
    weights = {name: value.double().numpy() for name, value in tiny_model(mlp).state_dict().items()}  # type: ignore[arg-type]
    block = {name.removeprefix("blocks.0."): value for name, value in weights.items()}
    x_TD = weights["embed.weight"][list(TOKENS)]
    x_TD = x_TD + attention(block, normed(x_TD, block, "norm_1"))
    before_TF: Numbers = normed(x_TD, block, "norm_2") @ block["mlp.up.weight"].T + block["mlp.up.bias"]
    return before_TF


def normed(x_TD: Numbers, block: dict[str, Numbers], name: str) -> Numbers:
    centred = x_TD - x_TD.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    out_TD: Numbers = scaled * block[f"{name}.weight"] + block[f"{name}.bias"]
    return out_TD


def attention(block: dict[str, Numbers], x_TD: Numbers) -> Numbers:
    """One head; its numbers i and i + 2 are a pair, turned by position times 10,000 ** (-2 i / 4)."""
    q_TE, k_TE, v_TE = np.split(x_TD @ block["attention.qkv.weight"].T + block["attention.qkv.bias"], 3, axis=-1)
    scores = turned(q_TE) @ turned(k_TE).T / math.sqrt(q_TE.shape[1])
    scores[np.triu_indices(len(scores), 1)] = -np.inf
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    read_TE = shares / shares.sum(axis=-1, keepdims=True) @ v_TE
    out_TD: Numbers = read_TE @ block["attention.out.weight"].T + block["attention.out.bias"]
    return out_TD


def turned(x_TE: Numbers) -> Numbers:
    half = x_TE.shape[1] // 2
    angles = np.arange(len(x_TE))[:, None] * 10_000.0 ** (-np.arange(half) / half)
    pairs = (x_TE[:, :half] + 1j * x_TE[:, half:]) * np.exp(1j * angles)
    return np.concatenate([pairs.real, pairs.imag], axis=-1)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(golden(), indent=1) + "\n", encoding="ascii")
