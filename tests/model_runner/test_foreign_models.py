"""Hugging Face architectures, each a tiny model with random weights, written to disk and read back."""

# Shape suffixes: B batch, T tokens, D model width, F hidden units.
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.foreign.command import import_model
from model_runner.foreign.condition import condition_of
from model_runner.foreign.down import find_hidden
from model_runner.foreign.huggingface import Foreign, load_foreign
from model_runner.foreign.model import ForeignModel
from model_runner.foreign.record import FOREIGN
from model_runner.foreign.wishes import Wishes
from model_runner.run_folder import open_run
from model_runner.subject import load_subject
from tests.corpora import make_corpus
from tests.texts import CODE, PROSE

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


def caught_outputs(model: nn.Module, modules: list[nn.Module]) -> list[Tensor]:
    """What these modules give in one whole pass."""
    outputs: list[Tensor] = []
    handles = [module.register_forward_hook(lambda *passed: outputs.append(passed[2])) for module in modules]
    with torch.no_grad():
        model(tokens_BT(), use_cache=False)
    for handle in handles:
        handle.remove()
    return outputs


@pytest.mark.parametrize("name", FAMILIES)
def test_the_matrix_down_of_what_is_captured_is_what_the_mlp_adds(name: str) -> None:
    family, model = FAMILIES[name], reader(name)
    layers = list(model.hidden.layers)
    with torch.no_grad():
        captured = list(model.activations(tokens_BT()))
    added = caught_outputs(model.network, [layer.get_submodule(family.mlp) for layer in layers])
    assert [acts_BTF.shape for acts_BTF in captured] == [(2, 7, family.units)] * LAYERS
    for layer, acts_BTF, out_BTD in zip(layers, captured, added, strict=True):
        down = layer.get_submodule(family.down)
        weight, bias = down.get_parameter("weight"), getattr(down, "bias", None)
        weight_FD = weight if name == "gpt2" else weight.T  # GPT-2's Conv1D keeps its matrix the other way round
        by_hand_BTD = torch.einsum("btf,fd->btd", acts_BTF, weight_FD) + (0.0 if bias is None else bias)
        torch.testing.assert_close(by_hand_BTD, out_BTD.reshape(2, 7, WIDTH), rtol=1e-4, atol=1e-5)
        assert out_BTD.abs().max() > 0.01, "a silent MLP would prove nothing"


def test_a_gated_unit_is_the_product_of_activation_and_projection() -> None:
    model = reader("llama")
    mlp = model.hidden.layers[0].get_submodule("mlp")
    read: list[Tensor] = []
    handle = mlp.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    with torch.no_grad():
        (acts_BTF,) = model.activations(tokens_BT(), layers=1)
        handle.remove()
        gate, up = mlp.get_submodule("gate_proj"), mlp.get_submodule("up_proj")
        torch.testing.assert_close(acts_BTF, nn.functional.silu(gate(read[0])) * up(read[0]))


def test_a_gelu_unit_of_neox_uses_the_error_function_and_gpt2_the_tanh() -> None:
    for name, up, approximate in (("neox", "mlp.dense_h_to_4h", "none"), ("gpt2", "mlp.c_fc", "tanh")):
        model = reader(name)
        (pre_BTF,) = caught_outputs(model.network, [model.hidden.layers[0].get_submodule(up)])
        with torch.no_grad():
            (acts_BTF,) = model.activations(tokens_BT(), layers=1)
        torch.testing.assert_close(acts_BTF, nn.functional.gelu(pre_BTF, approximate=approximate))


@pytest.mark.parametrize("name", FAMILIES)
def test_reading_changes_no_logit(name: str) -> None:
    model = reader(name)
    with torch.no_grad():
        before = model.logits(tokens_BT())
        list(model.activations(tokens_BT()))
        list(model.activations(tokens_BT(), layers=1))
        assert torch.equal(model.logits(tokens_BT()), before)


@pytest.mark.parametrize("name", FAMILIES)
def test_threads_that_read_one_model_at_once_do_not_meet(name: str) -> None:
    model, passes = reader(name), 12
    with torch.no_grad():
        alone = [list(model.activations(tokens_BT(), layers=1 + n % 2)) for n in range(passes)]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda n: _read(model, 1 + n % 2), range(passes)))
    for mine, theirs in zip(alone, together, strict=True):
        assert len(mine) == len(theirs)
        assert all(torch.equal(*pair) for pair in zip(mine, theirs, strict=True))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_layer_is_given_away_before_the_next_is_computed(name: str) -> None:
    model, down = reader(name), FAMILIES[name].down
    ran: list[str] = []
    for place, module in model.network.named_modules():
        module.register_forward_hook(lambda *_, place=place: ran.append(place))
    given: list[tuple[int, Tensor, int]] = []
    with torch.no_grad():
        model.read(tokens_BT(), lambda layer, acts: given.append((layer, acts, _projections(ran, down))))
        held = list(model.activations(tokens_BT()))
    assert [(layer, before) for layer, _, before in given] == [(layer, layer) for layer in range(LAYERS)]
    assert all(torch.equal(acts, other) for (_, acts, _), other in zip(given, held, strict=True))


def _projections(ran: list[str], down: str) -> int:
    return sum(place.endswith(f".{down}") for place in ran)


@torch.no_grad()
def _read(model: ForeignModel, layers: int) -> list[Tensor]:
    return list(model.activations(tokens_BT(), layers=layers))


@pytest.mark.parametrize("name", FAMILIES)
def test_nothing_after_the_last_layer_asked_for_is_computed(name: str) -> None:
    model = reader(name)
    ran: list[str] = []
    for place, module in model.network.named_modules():
        module.register_forward_hook(lambda *_, place=place: ran.append(place))
    with torch.no_grad():
        assert len(list(model.activations(tokens_BT(), layers=2))) == 2
    down = FAMILIES[name].down
    assert not any(place.endswith(f".1.{down}") or ".2." in place or "head" in place for place in ran), ran


@pytest.mark.parametrize("name", FAMILIES)
def test_the_condition_names_the_function_and_the_gate(name: str) -> None:
    model = reader(name)
    assert condition_of(model.network.config.to_dict(), model.hidden.gated) == FAMILIES[name].condition  # type: ignore[union-attr, operator]


def test_exact_and_approximate_gelu_are_two_conditions() -> None:
    names = ("gelu", "gelu_python", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "quick_gelu")
    assert [condition_of({"hidden_act": name}, False) for name in names] == [
        "gelu",
        "gelu",
        "gelu_new",
        "gelu_new",
        "gelu_new",
        "quick_gelu",
    ]


def test_a_config_without_a_function_is_refused() -> None:
    with pytest.raises(RunnerError, match=r"does not name its activation function .* --condition"):
        condition_of({"model_type": "odd"}, gated=False)


# ---- what cannot be collected ---------------------------------------------------------------------


def test_a_mixture_of_experts_is_refused() -> None:
    config = transformers.MixtralConfig(**{**FAMILIES["llama"].config.to_dict(), "num_local_experts": 2})
    with pytest.raises(RunnerError, match=r"Layer 0, a MixtralDecoderLayer, .* mixtures of experts"):
        find_hidden(random_model(config), LAYERS)


def test_a_model_without_such_a_list_of_layers_is_refused() -> None:
    with pytest.raises(RunnerError, match="GPT2LMHeadModel keeps no list of 5 layers"):
        find_hidden(random_model(FAMILIES["gpt2"].config), 5)


def test_layers_of_different_sizes_are_refused() -> None:
    model = random_model(FAMILIES["llama"].config)
    model.get_submodule("model.layers.1.mlp").down_proj = nn.Linear(41, WIDTH)
    with pytest.raises(RunnerError, match="layers of 40, 41 hidden units"):
        find_hidden(model, LAYERS)


# ---- import, corpus, collect ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    texts = [f"{number}. {text}" for number, text in enumerate((*PROSE, *CODE))]
    return make_corpus(tmp_path_factory.mktemp("corpus") / "c", texts, shares={"collect": 1.0})


def save_model(folder: Path, corpus: Corpus, name: str = "neox", **options: Any) -> Path:
    """A model's folder as the hub has it: config, weights, tokenizer."""
    random_model(FAMILIES[name].config).save_pretrained(folder, **options)  # type: ignore[operator]
    (folder / "tokenizer.json").write_bytes((corpus.folder / "tokenizer.json").read_bytes())
    return folder


@pytest.mark.parametrize("name", FAMILIES)
def test_an_imported_model_is_the_model(name: str, corpus: Corpus, tmp_path: Path) -> None:
    wishes = Wishes(context=16 if name in CONTEXTLESS else None, seed=7, train_tokens=900)
    source = save_model(tmp_path / "hub", corpus, name)
    imported = import_model(str(source), tmp_path / "model", wishes)
    loaded = load_subject(tmp_path / "model")
    assert isinstance(imported, Foreign)
    assert isinstance(loaded, Foreign)
    with torch.no_grad():
        wanted = random_model(FAMILIES[name].config)(tokens_BT()).logits
        torch.testing.assert_close(loaded.model.logits(tokens_BT()), wanted)
    about = loaded.about
    assert about == imported.about
    assert loaded.digest == imported.digest
    assert (about.condition, about.hidden, about.layers) == (FAMILIES[name].condition, FAMILIES[name].units, LAYERS)
    assert (about.context, about.seed, about.train_tokens) == (16 if name in CONTEXTLESS else 64, 7, 900)
    assert about.tokenizer_digest == corpus.info.tokenizer_digest


def test_size_counts_what_ours_count(corpus: Corpus, tmp_path: Path) -> None:
    imported = import_model(str(save_model(tmp_path / "hub", corpus, "gpt2")), tmp_path / "model", Wishes())
    assert imported.about.size == 12 * LAYERS * WIDTH**2


def test_a_foreign_model_is_collected_like_any_other(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, model = save_model(tmp_path / "hub", corpus, "llama"), tmp_path / "model"
    assert main(["import", str(source), "--out", str(model), "--context", "12", "--train-tokens", "5"]) == 0
    assert "silu_gated: 3 layers of 40 units" in capsys.readouterr().out
    asked = ["collect", "--checkpoint", str(model), "--corpus", str(corpus.folder), "--kept", "4"]
    assert main([*asked, "--out", str(tmp_path / "run")]) == 0
    run = open_run(tmp_path / "run")
    about = run.info
    assert (about.condition, about.layers, about.hidden, about.window) == ("silu_gated", 3, 40, 12)
    assert (about.activation_point, about.train_tokens, about.validation_loss) == ("only", 5, None)
    reading = load_foreign(model).model
    shown = 0
    for unit, row in enumerate(run.units):
        for snippet in run.snippets("top", unit):
            tokens = torch.from_numpy(snippet.tokens_W.astype("int64"))[None]
            with torch.no_grad():
                acts_F = list(reading.activations(tokens))[row["layer"]][0, :, row["index"]]
            torch.testing.assert_close(torch.tensor(snippet.activations_W), acts_F, rtol=1e-3, atol=1e-4)
            shown += 1
    assert shown > 100


def test_sharded_weights_are_known_by_all_their_bytes(corpus: Corpus, tmp_path: Path) -> None:
    source = save_model(tmp_path / "hub", corpus, "llama", max_shard_size="20KB")
    imported = import_model(str(source), tmp_path / "model", Wishes())
    assert isinstance(imported, Foreign)
    assert len(imported.record.weights) > 1
    last = source / sorted(imported.record.weights)[-1]
    changed = bytearray(last.read_bytes())
    changed[-1] ^= 1
    last.write_bytes(changed)
    with pytest.raises(RunnerError, match="is not the file that"):
        load_subject(tmp_path / "model")
    last.unlink()
    with pytest.raises(RunnerError, match="is gone"):
        load_subject(tmp_path / "model")


def test_another_format_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    import_model(str(save_model(tmp_path / "hub", corpus)), tmp_path / "model", Wishes())
    record = tmp_path / "model" / FOREIGN
    record.write_text(record.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(RunnerError, match="not of format 1"):
        load_subject(tmp_path / "model")


def test_what_cannot_be_imported_is_refused_in_a_sentence(corpus: Corpus, tmp_path: Path) -> None:
    source = save_model(tmp_path / "hub", corpus)
    cases: list[tuple[str, Wishes, str]] = [
        (str(tmp_path / "nowhere"), Wishes(), "There is no folder"),
        (str(tmp_path / "no.gguf"), Wishes(), "There is no file"),
        (str(corpus.folder), Wishes(), "has no config.json"),
        (str(source), Wishes(context=65), "A context of 65 tokens is longer than the model's, 64"),
    ]
    for name, wishes, said in cases:
        with pytest.raises(RunnerError, match=said):
            import_model(name, tmp_path / "model", wishes)
    (source / "model.safetensors").write_bytes((source / "model.safetensors").read_bytes()[:-50])
    with pytest.raises(RunnerError, match="transformers cannot read the model in"):
        import_model(str(source), tmp_path / "model", Wishes())
    assert not (tmp_path / "model" / FOREIGN).exists()


def test_weights_that_lack_a_tensor_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    source = save_model(tmp_path / "hub", corpus)
    tensors = load_file(source / "model.safetensors")
    del tensors["gpt_neox.layers.1.mlp.dense_h_to_4h.weight"]
    save_file(tensors, source / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(RunnerError, match=r"gpt_neox\.layers\.1\.mlp\.dense_h_to_4h\.weight are missing"):
        import_model(str(source), tmp_path / "model", Wishes())


def test_a_second_import_into_the_folder_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    source = save_model(tmp_path / "hub", corpus)
    import_model(str(source), tmp_path / "model", Wishes())
    with pytest.raises(RunnerError, match="holds a model already"):
        import_model(str(source), tmp_path / "model", Wishes())


def test_a_tokenizer_with_more_ids_than_the_model_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    config = transformers.GPT2Config(**{**FAMILIES["gpt2"].config.to_dict(), "vocab_size": 300})
    random_model(config).save_pretrained(tmp_path / "hub")  # type: ignore[operator]
    with pytest.raises(RunnerError, match=r"384 tokens and BOS 0, and the model knows ids below 300"):
        import_model(str(tmp_path / "hub"), tmp_path / "model", Wishes(tokenizer=corpus.folder / "tokenizer.json"))


def test_a_model_without_a_tokenizer_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    source = save_model(tmp_path / "hub", corpus, "gpt2")
    (source / "tokenizer.json").unlink()
    with pytest.raises(RunnerError, match=r"Give .*--tokenizer"):
        import_model(str(source), tmp_path / "model", Wishes())
    assert not (tmp_path / "model").exists()
    import_model(str(source), tmp_path / "model", Wishes(tokenizer=corpus.folder / "tokenizer.json"))


def test_a_checkpoint_of_ours_needs_no_import(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours/config.json").write_text('{"format": 1}')
    (tmp_path / "ours/train.json").write_text("{}")
    with pytest.raises(RunnerError, match="ours is a checkpoint already"):
        import_model(str(tmp_path / "ours"), tmp_path / "model", Wishes())


def test_a_hub_that_does_not_answer_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(RunnerError, match=r"the hub did not give it: .* Check the name and the network"):
        import_model("nobody/no-such-model", tmp_path / "model", Wishes())
