"""The layout of TransformerLens: the names and shapes of its tensors, and ours in their place.

The public SoLU and GELU models have it, with learned positions; ours, with rotary ones, are exported to it.
"""

# Shape suffixes: D model width.
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from model_runner.architecture.config import ModelConfig

BUFFERS = ("attn.mask", "attn.IGNORE", "attn.rotary_sin", "attn.rotary_cos")
"""Tensors in a state that are no weights."""
NORMS = ("ln1.w", "ln1.b", "ln2.w", "ln2.b", "mlp.ln.w", "mlp.ln.b", "ln_final.w", "ln_final.b")
"""Gains and biases that are absent when they have been folded into the matrices after them."""

Shapes = dict[str, tuple[int, ...]]


def lens_shapes(config: ModelConfig) -> Shapes:
    """Name and shape of every weight, those of an unfolded model; `unembed.b_U` may be absent."""
    width, vocab_size = config.width, config.vocab_size
    shapes: Shapes = {"embed.W_E": (vocab_size, width)}
    if config.positions == "learned":
        shapes["pos_embed.W_pos"] = (config.context, width)
    for layer in range(config.layers):
        shapes |= {f"blocks.{layer}.{name}": shape for name, shape in _block_shapes(config)}
    shapes |= {"ln_final.w": (width,), "ln_final.b": (width,)}
    return shapes | {"unembed.W_U": (width, vocab_size), "unembed.b_U": (vocab_size,)}


def _block_shapes(config: ModelConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    width, heads, head_width, hidden = config.width, config.heads, config.head_width, config.hidden
    for norm in ("ln1", "ln2"):
        yield from ((f"{norm}.w", (width,)), (f"{norm}.b", (width,)))
    for letter in "QKV":
        yield from ((f"attn.W_{letter}", (heads, width, head_width)), (f"attn.b_{letter}", (heads, head_width)))
    yield from (("attn.W_O", (heads, head_width, width)), ("attn.b_O", (width,)))
    yield from (("mlp.W_in", (width, hidden)), ("mlp.b_in", (hidden,)))
    if config.mlp == "solu_ln":
        yield from (("mlp.ln.w", (hidden,)), ("mlp.ln.b", (hidden,)))
    yield from (("mlp.W_out", (hidden, width)), ("mlp.b_out", (width,)))


def to_lens(weights: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """Our tensors under their names and in their shapes; the numbers are the same."""
    lens = {"embed.W_E": weights["embed.weight"]}
    if config.positions == "learned":
        lens["pos_embed.W_pos"] = weights["positions.weight"]
    for layer in range(config.layers):
        block = dict(_below(weights, f"blocks.{layer}."))
        lens |= {f"blocks.{layer}.{name}": value for name, value in _block_to_lens(block, config.heads)}
    lens |= {"ln_final.w": weights["final_norm.weight"], "ln_final.b": weights["final_norm.bias"]}
    lens |= {"unembed.W_U": weights["unembed.weight"].T, "unembed.b_U": torch.zeros(config.vocab_size)}
    return {name: value.contiguous() for name, value in lens.items()}


def _below(tensors: Mapping[str, Tensor], prefix: str) -> Iterator[tuple[str, Tensor]]:
    return ((name.removeprefix(prefix), value) for name, value in tensors.items() if name.startswith(prefix))


def _block_to_lens(block: Mapping[str, Tensor], heads: int) -> Iterator[tuple[str, Tensor]]:
    matrices, biases = block["attention.qkv.weight"].chunk(3), block["attention.qkv.bias"].chunk(3)
    for letter, matrix_DD, bias_D in zip("QKV", matrices, biases, strict=True):
        yield f"attn.W_{letter}", matrix_DD.reshape(heads, -1, matrix_DD.shape[1]).transpose(1, 2)
        yield f"attn.b_{letter}", bias_D.reshape(heads, -1)
    out_DD = block["attention.out.weight"].T
    yield "attn.W_O", out_DD.reshape(heads, -1, out_DD.shape[1])
    yield "mlp.W_in", block["mlp.up.weight"].T
    yield "mlp.W_out", block["mlp.down.weight"].T
    yield from ((theirs, block[ours]) for theirs, ours in SAME_IN_BLOCK.items() if ours in block)


SAME_IN_BLOCK = {
    "ln1.w": "norm_1.weight",
    "ln1.b": "norm_1.bias",
    "attn.b_O": "attention.out.bias",
    "ln2.w": "norm_2.weight",
    "ln2.b": "norm_2.bias",
    "mlp.b_in": "mlp.up.bias",
    "mlp.ln.w": "mlp.norm.weight",
    "mlp.ln.b": "mlp.norm.bias",
    "mlp.b_out": "mlp.down.bias",
}


def from_lens(lens: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """Their tensors, all of `lens_shapes`, as ours; `unembed.b_U` is left out."""
    weights = {"embed.weight": lens["embed.W_E"]}
    if config.positions == "learned":
        weights["positions.weight"] = lens["pos_embed.W_pos"]
    for layer in range(config.layers):
        block = dict(_below(lens, f"blocks.{layer}."))
        weights |= {f"blocks.{layer}.{name}": value for name, value in _block_from_lens(block)}
    weights |= {"final_norm.weight": lens["ln_final.w"], "final_norm.bias": lens["ln_final.b"]}
    weights["unembed.weight"] = lens["unembed.W_U"].T
    return {name: value.contiguous() for name, value in weights.items()}


def _block_from_lens(block: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    yield "attention.qkv.weight", torch.cat([block[f"attn.W_{x}"].transpose(1, 2).flatten(0, 1) for x in "QKV"])
    yield "attention.qkv.bias", torch.cat([block[f"attn.b_{x}"].flatten() for x in "QKV"])
    yield "attention.out.weight", block["attn.W_O"].flatten(0, 1).T
    yield "mlp.up.weight", block["mlp.W_in"].T
    yield "mlp.down.weight", block["mlp.W_out"].T
    yield from ((ours, block[theirs]) for theirs, ours in SAME_IN_BLOCK.items() if theirs in block)
