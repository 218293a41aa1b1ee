"""A GGUF file, written here with the format's own library, is read as the model it holds."""

import json
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model_runner.corpus.store import Corpus
from model_runner.foreign.command import import_model
from model_runner.foreign.huggingface import Foreign
from model_runner.foreign.wishes import Wishes
from model_runner.subject import load_subject
from model_runner.tokenizer import load_tokenizer
from tests.corpora import make_corpus
from tests.model_runner.foreign.families import FAMILIES, random_model, tokens_BT
from tests.texts import PROSE

NAMES = {
    "self_attn.q_proj.weight": "attn_q",
    "self_attn.k_proj.weight": "attn_k",
    "self_attn.v_proj.weight": "attn_v",
    "self_attn.o_proj.weight": "attn_output",
    "mlp.gate_proj.weight": "ffn_gate",
    "mlp.up_proj.weight": "ffn_up",
    "mlp.down_proj.weight": "ffn_down",
    "input_layernorm.weight": "attn_norm",
    "post_attention_layernorm.weight": "ffn_norm",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus") / "c", [*PROSE], shares={"collect": 1.0}, vocabulary=380)


def llama() -> nn.Module:
    config = type(FAMILIES["llama"].config)(**{**FAMILIES["llama"].config.to_dict(), "mlp_bias": False})
    return random_model(config)


def write_gguf(file: Path, model: nn.Module, tokenizer: Path) -> None:
    config = model.config
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(config.max_position_embeddings)  # type: ignore[union-attr, arg-type]
    writer.add_embedding_length(config.hidden_size)  # type: ignore[union-attr, arg-type]
    writer.add_block_count(config.num_hidden_layers)  # type: ignore[union-attr, arg-type]
    writer.add_feed_forward_length(config.intermediate_size)  # type: ignore[union-attr, arg-type]
    writer.add_head_count(config.num_attention_heads)  # type: ignore[union-attr, arg-type]
    writer.add_head_count_kv(config.num_key_value_heads)  # type: ignore[union-attr, arg-type]
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)  # type: ignore[union-attr, arg-type]
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(config.vocab_size)  # type: ignore[union-attr, arg-type]
    _write_tokenizer(writer, json.loads(tokenizer.read_text(encoding="utf-8")))
    for name, value in model.state_dict().items():
        writer.add_tensor(_gguf_name(name), np.ascontiguousarray(_as_written(name, value, model)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _write_tokenizer(writer: gguf.GGUFWriter, content: dict[str, dict[str, dict[str, int]]]) -> None:
    vocabulary = content["model"]["vocab"]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(sorted(vocabulary, key=lambda token: vocabulary[token]))
    writer.add_token_types(
        [gguf.TokenType.CONTROL if number == 0 else gguf.TokenType.NORMAL for number in range(len(vocabulary))]
    )
    writer.add_token_merges([" ".join(pair) for pair in content["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)


def _gguf_name(name: str) -> str:
    fixed = {"model.embed_tokens.weight": "token_embd", "model.norm.weight": "output_norm", "lm_head.weight": "output"}
    if name in fixed:
        return f"{fixed[name]}.weight"
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{NAMES[rest]}.weight"


def _as_written(name: str, value: Tensor, model: nn.Module) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """The format keeps the pairs that rotary positions turn side by side, where the hub keeps them in halves."""
    if name.endswith(("q_proj.weight", "k_proj.weight")):
        heads = value.shape[0] // model.config.head_dim  # type: ignore[union-attr, operator]
        value = value.reshape(heads, 2, -1, value.shape[1]).transpose(1, 2).reshape(value.shape)
    return value.numpy()


def test_a_gguf_file_is_the_model_it_was_written_from(corpus: Corpus, tmp_path: Path) -> None:
    model = llama()
    write_gguf(tmp_path / "tiny.gguf", model, corpus.folder / "tokenizer.json")
    imported = import_model(str(tmp_path / "tiny.gguf"), tmp_path / "model", Wishes())
    loaded = load_subject(tmp_path / "model")
    assert isinstance(imported, Foreign)
    assert isinstance(loaded, Foreign)
    with torch.no_grad():
        torch.testing.assert_close(loaded.model.logits(tokens_BT()), model(tokens_BT()).logits, rtol=1e-4, atol=1e-4)
        captured = list(loaded.model.activations(tokens_BT()))
    assert [acts_BTF.shape for acts_BTF in captured] == [(2, 7, 40)] * 3
    about = loaded.about
    assert (about.condition, about.layers, about.hidden, about.context) == ("silu_gated", 3, 40, 64)
    assert imported.record.gguf_file == "tiny.gguf"
    text = "Bread was baked on Mondays — “é”"
    kept = load_ids(tmp_path / "model" / "tokenizer.json", text)
    assert kept == load_ids(corpus.folder / "tokenizer.json", text)


def load_ids(file: Path, text: str) -> list[int]:
    ids: list[int] = load_tokenizer(file).encode(text, add_special_tokens=False).ids
    return ids
