"""Small models in the layout of the public SoLU checkpoints, and what they compute, written out by hand."""

# Shape suffixes: B batch, T tokens, D model width, H heads, E head width, F neurons, V vocabulary.
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import gelu

LAYERS, WIDTH, HEADS, HIDDEN, CONTEXT, VOCABULARY = 2, 16, 2, 64, 24, 384
EPS = 1e-5

State = dict[str, Tensor]


def public_config(act_fn: str = "solu_ln", **given: Any) -> dict[str, Any]:
    """The config.json that the public models have."""
    values: dict[str, Any] = {
        "n_layers": LAYERS,
        "d_model": WIDTH,
        "d_mlp": HIDDEN,
        "d_head": WIDTH // HEADS,
        "n_heads": HEADS,
        "n_ctx": CONTEXT,
        "d_vocab": VOCABULARY,
        "act_fn": act_fn,
        "attn_only": False,
        "normalization": "LN",
        "shortformer_pos": False,
        "tokenizer_name": "NeelNanda/gpt-neox-tokenizer-digits",
    }
    return {**values, **given}


def random_state(act_fn: str = "solu_ln", seed: int = 0) -> State:
    """Tensors with exactly the names and shapes of a public model."""
    head = (HEADS, WIDTH, WIDTH // HEADS)
    shapes: dict[str, tuple[int, ...]] = {"embed.W_E": (VOCABULARY, WIDTH), "pos_embed.W_pos": (CONTEXT, WIDTH)}
    for layer in range(LAYERS):
        block: dict[str, tuple[int, ...]] = {"ln1.w": (WIDTH,), "ln1.b": (WIDTH,), "ln2.w": (WIDTH,), "ln2.b": (WIDTH,)}
        for letter in "QKV":
            block |= {f"attn.W_{letter}": head, f"attn.b_{letter}": (HEADS, WIDTH // HEADS)}
        block |= {"attn.W_O": (HEADS, WIDTH // HEADS, WIDTH), "attn.b_O": (WIDTH,)}
        block |= {"mlp.W_in": (WIDTH, HIDDEN), "mlp.b_in": (HIDDEN,)}
        block |= {"mlp.W_out": (HIDDEN, WIDTH), "mlp.b_out": (WIDTH,)}
        if act_fn == "solu_ln":
            block |= {"mlp.ln.w": (HIDDEN,), "mlp.ln.b": (HIDDEN,)}
        shapes |= {f"blocks.{layer}.{name}": shape for name, shape in block.items()}
    shapes |= {"ln_final.w": (WIDTH,), "ln_final.b": (WIDTH,), "unembed.W_U": (WIDTH, VOCABULARY)}
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=generator) * 0.5 for name, shape in shapes.items()}


def folded(state: State, centred: bool) -> State:
    """The same model with every LayerNorm's gain and bias put into the matrices after it.

    `centred` takes from these matrices what a LayerNorm's output, whose sum is zero, never meets.
    """
    after = {name: value.clone() for name, value in state.items()}
    for layer in range(LAYERS):
        block = f"blocks.{layer}."
        for letter in "QKV":
            matrix_HDE = after[f"{block}attn.W_{letter}"]
            after[f"{block}attn.b_{letter}"] += torch.einsum("d,hde->he", after[f"{block}ln1.b"], matrix_HDE)
            after[f"{block}attn.W_{letter}"] = after[f"{block}ln1.w"][:, None] * matrix_HDE
        for norm, matrix, bias in (("ln2", "mlp.W_in", "mlp.b_in"), ("mlp.ln", "mlp.W_out", "mlp.b_out")):
            if f"{block}{norm}.w" in after:
                after[block + bias] += after[f"{block}{norm}.b"] @ after[block + matrix]
                after[block + matrix] = after[f"{block}{norm}.w"][:, None] * after[block + matrix]
    after["unembed.b_U"] = after["ln_final.b"] @ after["unembed.W_U"]
    after["unembed.W_U"] = after["ln_final.w"][:, None] * after["unembed.W_U"]
    left = {name: value for name, value in after.items() if ".ln" not in name and not name.startswith("ln_final")}
    return (
        {name: _centred(name, value, "blocks.0.mlp.ln.w" in state) for name, value in left.items()} if centred else left
    )


def _centred(name: str, value: Tensor, norm_before_out: bool) -> Tensor:
    reading = (".W_Q", ".W_K", ".W_V", ".W_in", ".W_U") + ((".W_out",) if norm_before_out else ())
    return value - value.mean(dim=-2, keepdim=True) if name.endswith(reading) else value


def save_state(folder: Path, config: dict[str, Any], state: State, tokenizer: Path) -> Path:
    """A folder as the hub has it."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    torch.save(state, folder / "model_final.pth")
    (folder / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    return folder


def by_hand(state: State, act_fn: str, tokens_BT: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Logits and the activations before the post-activation norm, from the facts in print, in float64."""
    weights = {name: value.double() for name, value in state.items()}
    x_BTD = weights["embed.W_E"][tokens_BT] + weights["pos_embed.W_pos"][: tokens_BT.shape[1]]
    mids = []
    for layer in range(LAYERS):
        block = {name.removeprefix(f"blocks.{layer}."): value for name, value in weights.items()}
        x_BTD = x_BTD + attention(block, normed(x_BTD, block, "ln1"))
        pre_BTF = normed(x_BTD, block, "ln2") @ block["mlp.W_in"] + block["mlp.b_in"]
        mids.append(gelu(pre_BTF) if act_fn == "gelu" else pre_BTF * pre_BTF.softmax(dim=-1))
        post_BTF = normed(mids[-1], block, "mlp.ln") if act_fn == "solu_ln" else mids[-1]
        x_BTD = x_BTD + post_BTF @ block["mlp.W_out"] + block["mlp.b_out"]
    return normed(x_BTD, weights, "ln_final") @ weights["unembed.W_U"], mids


def normed(x: Tensor, weights: State, name: str) -> Tensor:
    centred = x - x.mean(dim=-1, keepdim=True)
    scaled = centred / (centred.pow(2).mean(dim=-1, keepdim=True) + EPS).sqrt()
    return scaled * weights[f"{name}.w"] + weights[f"{name}.b"]


def attention(block: State, x_BTD: Tensor) -> Tensor:
    q, k, v = (
        torch.einsum("btd,hde->bhte", x_BTD, block[f"attn.W_{x}"]) + block[f"attn.b_{x}"][:, None] for x in "QKV"
    )
    scores_BHTT = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
    later_TT = torch.ones(x_BTD.shape[1], x_BTD.shape[1], dtype=torch.bool).triu(1)
    read_BHTE = scores_BHTT.masked_fill(later_TT, -torch.inf).softmax(dim=-1) @ v
    return torch.einsum("bhte,hed->btd", read_BHTE, block["attn.W_O"]) + block["attn.b_O"]
