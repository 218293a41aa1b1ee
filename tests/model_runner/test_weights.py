"""Weights that do not fit, are of another type or broken: a sentence with file and tensor, wherever they lie."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from model_runner.checkpoint import load_checkpoint, save_checkpoint
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.files import file_digest
from model_runner.foreign.command import import_model
from model_runner.foreign.huggingface import Foreign, load_foreign
from model_runner.foreign.lens_weights import read_state
from model_runner.foreign.wishes import Wishes
from tests.corpora import make_corpus
from tests.model_runner.foreign.families import FAMILIES, random_model, save_model, tokens_BT
from tests.model_runner.foreign.test_gguf import llama, write_gguf
from tests.model_runner.lens_models import public_config, random_state, save_state
from tests.model_runner.models import record, scrambled, small_config
from tests.texts import PROSE

Tensors = dict[str, Tensor]
Change = Callable[[Tensors], object]
HALVES = (torch.float16, torch.bfloat16, torch.float64)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus") / "c", PROSE, shares={"collect": 1.0})


def rewrite(file: Path, change: Change) -> None:
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file, metadata={"format": "pt"})


def to(name: str, value: Tensor) -> Change:
    return lambda tensors: tensors.update({name: value})


def as_type(name: str, kind: torch.dtype) -> Change:
    return lambda tensors: tensors.update({name: tensors[name].to(kind)})


def without(name: str) -> Change:
    return lambda tensors: tensors.pop(name)


def put(name: str, value: float) -> Change:
    return lambda tensors: tensors[name].view(-1)[3].fill_(value)


# ---- checkpoints that were trained here -----------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "arm", scrambled(small_config()), record())
    return tmp_path / "arm"


def change_weights(folder: Path, change: Change) -> None:
    """As somebody would who converts a checkpoint and puts its digest right."""
    rewrite(folder / "model.safetensors", change)
    say(folder / "train.json", weights_digest=file_digest(folder / "model.safetensors"))


def say(file: Path, **values: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (as_type("unembed.weight", torch.float16), "unembed.weight holds float16 numbers, and float32 is wanted"),
        (as_type("unembed.weight", torch.bfloat16), "unembed.weight holds bfloat16 numbers, and float32"),
        (as_type("unembed.weight", torch.float64), "unembed.weight holds float64 numbers, and float32"),
        (as_type("blocks.1.mlp.down.bias", torch.int8), "blocks.1.mlp.down.bias holds int8 numbers, and float32"),
        (without("blocks.0.mlp.norm.bias"), r"blocks.0.mlp.norm.bias of shape \(64,\) is missing"),
        (to("extra", torch.ones(2, 3)), r"extra of shape \(2, 3\) has no place in it"),
        (to("final_norm.bias", torch.ones(9)), r"final_norm.bias is of shape \(9,\), and \(16,\) is wanted"),
        (put("embed.weight", torch.nan), "1 of the 6,144 numbers of embed.weight are NaN or infinite. Restore it"),
        (put("blocks.1.mlp.down.weight", torch.inf), "of blocks.1.mlp.down.weight are NaN or infinite"),
    ],
)
def test_ours_are_refused_with_file_and_tensor(folder: Path, change: Change, said: str) -> None:
    change_weights(folder, change)
    with pytest.raises(RunnerError, match=rf"model\.safetensors .*{said}"):
        load_checkpoint(folder)


def test_a_broken_neuron_is_no_broken_model(folder: Path) -> None:
    change_weights(folder, put("blocks.1.mlp.up.bias", torch.nan))
    assert load_checkpoint(folder).model.get_parameter("blocks.1.mlp.up.bias").isnan().sum() == 1


def test_a_file_cut_short_is_said_even_where_its_digest_was_put_right(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    say(folder / "train.json", weights_digest=file_digest(weights))
    with pytest.raises(RunnerError, match=r"model\.safetensors cannot be read as safetensors: .* Restore it"):
        load_checkpoint(folder)


def test_a_config_that_fits_but_is_not_the_one_is_refused(folder: Path) -> None:
    """Half as many heads take the same tensors and compute something else."""
    say(folder / "config.json", heads=1)
    with pytest.raises(RunnerError, match=r"config\.json has changed since train\.json was written"):
        load_checkpoint(folder)


def test_a_checkpoint_older_than_the_digest_of_its_config_is_read(folder: Path) -> None:
    values = json.loads((folder / "train.json").read_text())
    del values["config_digest"]
    (folder / "train.json").write_text(json.dumps(values))
    assert load_checkpoint(folder).config == small_config()


# ---- TransformerLens's layout ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("ending", ["final.pth", ".safetensors"])
def test_a_lens_state_of_any_float_is_read_as_float32(kind: torch.dtype, ending: str, tmp_path: Path) -> None:
    state = {name: value.to(kind) for name, value in random_state().items()}
    file = tmp_path / f"model{ending}"
    torch.save(state, file) if ending.endswith("pth") else save_file(state, file)
    read = read_state(file)
    assert {value.dtype for value in read.values()} == {torch.float32}
    assert all(torch.equal(read[name], value.float()) for name, value in state.items())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (as_type("blocks.0.mlp.W_in", torch.int8), r"holds blocks\.0\.mlp\.W_in as int8, .* before it was quantised"),
        (put("blocks.1.attn.W_Q", torch.nan), r"1 of the 256 numbers of blocks\.1\.attn\.W_Q are NaN or infinite"),
        (
            to("embed.W_E", torch.full((384, 16), 1e300, dtype=torch.float64)),
            r"6,144 of the 6,144 numbers of embed\.W_E",
        ),
    ],
)
@pytest.mark.parametrize("ending", ["final.pth", ".safetensors"])
def test_lens_states_are_refused_with_file_and_tensor(ending: str, change: Change, said: str, tmp_path: Path) -> None:
    state, file = random_state(), tmp_path / f"model{ending}"
    change(state)
    torch.save(state, file) if ending.endswith("pth") else save_file(state, file)
    with pytest.raises(RunnerError, match=rf"model\.?{ending} .*{said}"):
        read_state(file)


def test_a_lens_file_of_safetensors_that_is_cut_short_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    source = save_state(tmp_path / "hub", public_config(), {}, corpus.folder / "tokenizer.json")
    (source / "model_final.pth").unlink()
    save_file(random_state(), source / "model.safetensors")
    cut(source / "model.safetensors")
    with pytest.raises(RunnerError, match=r"model\.safetensors cannot be read as safetensors"):
        import_model(str(source), tmp_path / "model", Wishes())
    assert not (tmp_path / "model").exists()


def cut(file: Path, share: float = 0.5) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])


# ---- Hugging Face ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HALVES)
def test_a_hub_model_of_any_float_is_read_as_float32(kind: torch.dtype, corpus: Corpus, tmp_path: Path) -> None:
    source = save_model(tmp_path / "hub", corpus)
    rewrite(source / "model.safetensors", lambda tensors: tensors.update({k: v.to(kind) for k, v in tensors.items()}))
    imported = import_model(str(source), tmp_path / "model", Wishes())
    assert isinstance(imported, Foreign)
    wanted = random_model(FAMILIES["neox"].config).to(kind).float()
    assert {value.dtype for value in imported.model.network.parameters()} == {torch.float32}
    with torch.no_grad():
        torch.testing.assert_close(imported.model.logits(tokens_BT()), wanted(tokens_BT()).logits)


NEOX = "gpt_neox.layers.1.mlp.dense_4h_to_h.weight"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (as_type(NEOX, torch.int8), r"model\.safetensors holds gpt_neox\.layers\.1\.\S+ as I8, .* it was quantised"),
        (put(NEOX, torch.nan), r"1 of the 640 numbers of gpt_neox\.layers\.1\.mlp\.dense_4h_to_h\.weight are NaN"),
        (to(NEOX, torch.zeros(16, 41)), r"dense_4h_to_h\.weight \(16, 41\), wanted \(16, 40\), are of another shape"),
        (
            to("gpt_neox.layers.3.mlp.dense_4h_to_h.weight", torch.ones(2)),
            r"layers\.3\.\S+ belong to layers past the 3",
        ),
        (without(NEOX), r"gpt_neox\.layers\.1\.mlp\.dense_4h_to_h\.weight are missing"),
    ],
)
def test_hub_models_are_refused_with_the_tensor(change: Change, said: str, corpus: Corpus, tmp_path: Path) -> None:
    source = save_model(tmp_path / "hub", corpus)
    rewrite(source / "model.safetensors", change)
    with pytest.raises(RunnerError, match=said):
        import_model(str(source), tmp_path / "model", Wishes())
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"num_hidden_layers": 2}, "belong to layers past the 2 that it names"),
        ({"num_hidden_layers": 4}, "are missing"),
        ({"intermediate_size": 48}, r"dense_4h_to_h\.weight \(16, 40\), wanted \(16, 48\)"),
        ({"model_type": "nobodys"}, "transformers cannot read the model in .* fetch the model again"),
        ({"hidden_size": "wide"}, "transformers cannot read the model in"),
    ],
)
def test_a_hub_config_that_does_not_fit_is_refused(
    values: dict[str, Any], said: str, corpus: Corpus, tmp_path: Path
) -> None:
    source = save_model(tmp_path / "hub", corpus)
    say(source / "config.json", **values)
    with pytest.raises(RunnerError, match=said):
        import_model(str(source), tmp_path / "model", Wishes())
    assert not (tmp_path / "model").exists()


def test_a_config_that_changed_after_the_import_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    source = save_model(tmp_path / "hub", corpus)
    import_model(str(source), tmp_path / "model", Wishes())
    say(source / "config.json", hidden_act="relu")
    with pytest.raises(RunnerError, match=r"config\.json is not the file that .* was imported from. Import it again"):
        load_foreign(tmp_path / "model")


@pytest.mark.parametrize("share", [0.3, 0.98])
def test_a_pickle_and_a_gguf_file_that_are_cut_short_are_refused(share: float, corpus: Corpus, tmp_path: Path) -> None:
    source = save_model(tmp_path / "hub", corpus)
    torch.save(load_file(source / "model.safetensors"), source / "pytorch_model.bin")
    (source / "model.safetensors").unlink()
    cut(source / "pytorch_model.bin", share)
    with pytest.raises(RunnerError, match="transformers cannot read the model in"):
        import_model(str(source), tmp_path / "model", Wishes())
    write_gguf(tmp_path / "tiny.gguf", llama(), corpus.folder / "tokenizer.json")
    cut(tmp_path / "tiny.gguf", share)
    with pytest.raises(RunnerError, match=r"transformers cannot read tiny\.gguf in"):
        import_model(str(tmp_path / "tiny.gguf"), tmp_path / "model", Wishes())
    assert not (tmp_path / "model").exists()
