"""Hugging Face architectures, each a tiny model with random weights, and what is known of its MLP by hand."""

# Shape suffixes: B batch, T tokens, D model width, F hidden units.
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from model_runner.corpus.store import Corpus
from model_runner.foreign.down import find_hidden
from model_runner.foreign.model import ForeignModel

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the library warns of its own old names while it is imported
    import transformers


VOCABULARY, WIDTH, LAYERS = 384, 16, 3


@dataclass(frozen=True)
class Family:
    """A tiny model of an architecture and what is known of its MLP by hand."""

    config: Any
    mlp: str
    """Where the MLP of a layer is, a module whose output is what the MLP adds to the residual stream."""
    down: str
    condition: str
    units: int


def families() -> dict[str, Family]:
    plain = {"vocab_size": VOCABULARY, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    llama = {
        **plain,
        "hidden_size": WIDTH,
        "intermediate_size": 40,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "max_position_embeddings": 64,
    }
    neox = {name: value for name, value in llama.items() if name != "num_key_value_heads"}
    gpt2 = {**plain, "n_embd": WIDTH, "n_layer": LAYERS, "n_head": 2, "n_positions": 64}
    opt = {**plain, "hidden_size": WIDTH, "ffn_dim": 40, "num_hidden_layers": LAYERS, "num_attention_heads": 2}
    return {
        "gpt2": Family(transformers.GPT2Config(**gpt2), "mlp", "mlp.c_proj", "gelu_new", 64),
        "gptj": Family(transformers.GPTJConfig(**gpt2, rotary_dim=4), "mlp", "mlp.fc_out", "gelu_new", 64),
        "neox": Family(transformers.GPTNeoXConfig(**neox), "mlp", "mlp.dense_4h_to_h", "gelu", 40),
        "bloom": Family(
            transformers.BloomConfig(**plain, hidden_size=WIDTH, n_layer=LAYERS, n_head=2, seq_length=64),
            "mlp.dense_4h_to_h",
            "mlp.dense_4h_to_h",
            "gelu_new",
            64,
        ),
        "opt": Family(
            transformers.OPTConfig(**opt, word_embed_proj_dim=WIDTH, max_position_embeddings=64),
            "fc2",
            "fc2",
            "relu",
            40,
        ),
        "llama": Family(transformers.LlamaConfig(**llama, mlp_bias=True), "mlp", "mlp.down_proj", "silu_gated", 40),
        "gemma": Family(transformers.GemmaConfig(**llama, head_dim=8), "mlp", "mlp.down_proj", "gelu_new_gated", 40),
        "phi3": Family(transformers.Phi3Config(**llama), "mlp", "mlp.down_proj", "silu_gated", 40),
        "qwen3": Family(transformers.Qwen3Config(**llama, head_dim=8), "mlp", "mlp.down_proj", "silu_gated", 40),
    }


FAMILIES = families()
CONTEXTLESS = {"bloom"}
"""Families whose positions have no end, so that the user says how much is read at a time."""


def random_model(config: Any, seed: int = 0) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model: nn.Module = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.2)
    return model.eval()


def reader(name: str) -> ForeignModel:
    model = random_model(FAMILIES[name].config)
    return ForeignModel(model, find_hidden(model, LAYERS))


def tokens_BT(rows: int = 2, tokens: int = 7) -> Tensor:
    return torch.randint(VOCABULARY, (rows, tokens), generator=torch.Generator().manual_seed(3))


def save_model(folder: Path, corpus: Corpus, name: str = "neox", **options: Any) -> Path:
    """A model's folder as the hub has it: config, weights, tokenizer."""
    random_model(FAMILIES[name].config).save_pretrained(folder, **options)  # type: ignore[operator]
    (folder / "tokenizer.json").write_bytes((corpus.folder / "tokenizer.json").read_bytes())
    return folder
