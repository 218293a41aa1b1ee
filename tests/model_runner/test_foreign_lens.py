"""Models in TransformerLens's layout, as the public SoLU and GELU checkpoints have it."""

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from model_runner.checkpoint import Checkpoint, load_checkpoint
from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.foreign.command import import_model
from model_runner.foreign.lens import public_train_tokens
from model_runner.foreign.lens_config import config_from_lens
from model_runner.foreign.lens_weights import read_state
from model_runner.foreign.wishes import Wishes
from model_runner.run.folder import open_run
from tests.corpora import make_corpus
from tests.model_runner.lens_models import (
    CONTEXT,
    HIDDEN,
    LAYERS,
    VOCABULARY,
    by_hand,
    folded,
    public_config,
    random_state,
    save_state,
)
from tests.texts import CODE, PROSE

TOKENS_BT = torch.randint(VOCABULARY, (2, CONTEXT), generator=torch.Generator().manual_seed(5))
ACTIVATIONS = ("solu_ln", "solu", "gelu")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus") / "c", [*PROSE, *CODE], shares={"collect": 1.0})


@pytest.fixture
def tokenizer(corpus: Corpus) -> Path:
    return corpus.folder / "tokenizer.json"


def imported(source: Path, out: Path, **wishes: Any) -> Checkpoint:
    import_model(str(source), out, Wishes(**wishes))
    return load_checkpoint(out)


@pytest.mark.parametrize("act_fn", ACTIVATIONS)
def test_logits_and_activations_are_those_of_the_facts_in_print(act_fn: str, tokenizer: Path, tmp_path: Path) -> None:
    state = random_state(act_fn)
    source = save_state(tmp_path / "hub", public_config(act_fn), state, tokenizer)
    checkpoint = imported(source, tmp_path / "model")
    logits_BTV, mids = by_hand(state, act_fn, TOKENS_BT)
    with torch.no_grad():
        torch.testing.assert_close(checkpoint.model(TOKENS_BT).double(), logits_BTV, rtol=1e-4, atol=1e-4)
        captured = list(checkpoint.model.activations(TOKENS_BT))
    for mid_BTF, acts_BTF in zip(mids, captured, strict=True):
        torch.testing.assert_close(acts_BTF.double(), mid_BTF, rtol=1e-4, atol=1e-5)
    assert checkpoint.about.condition == act_fn
    assert checkpoint.config.positions == "learned"


@pytest.mark.parametrize("act_fn", ACTIVATIONS)
def test_the_matrix_down_of_what_is_captured_is_what_the_mlp_adds(act_fn: str, tokenizer: Path, tmp_path: Path) -> None:
    state = random_state(act_fn)
    source = save_state(tmp_path / "hub", public_config(act_fn), state, tokenizer)
    model = imported(source, tmp_path / "model").model
    added = []
    for block in model.blocks:
        block.mlp.down.register_forward_hook(lambda *passed: added.append(passed[2]))  # type: ignore[union-attr]
    with torch.no_grad():
        captured = list(model.activations(TOKENS_BT))
        added.clear()
        model(TOKENS_BT)
        for layer, (acts_BTF, norm) in enumerate(zip(captured, model.norms, strict=True)):
            post_BTF = acts_BTF if norm is None else norm(acts_BTF)
            by_hand_BTD = post_BTF @ state[f"blocks.{layer}.mlp.W_out"] + state[f"blocks.{layer}.mlp.b_out"]
            torch.testing.assert_close(by_hand_BTD, added[layer], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("act_fn", ACTIVATIONS)
def test_a_folded_model_is_the_same_model(act_fn: str, centred: bool, tokenizer: Path, tmp_path: Path) -> None:
    state = random_state(act_fn)
    config = public_config(act_fn, normalization="LNPre")
    model = imported(save_state(tmp_path / "hub", config, folded(state, centred), tokenizer), tmp_path / "model").model
    logits_BTV, mids = by_hand(state, act_fn, TOKENS_BT)
    with torch.no_grad():
        torch.testing.assert_close(model(TOKENS_BT).double(), logits_BTV, rtol=1e-4, atol=1e-3)
        for mid_BTF, acts_BTF in zip(mids, model.activations(TOKENS_BT), strict=True):
            torch.testing.assert_close(acts_BTF.double(), mid_BTF, rtol=1e-4, atol=1e-4)


def test_buffers_a_half_precision_state_and_safetensors_are_read(tokenizer: Path, tmp_path: Path) -> None:
    state = {name: value.half() for name, value in random_state().items()}
    logits_BTV, _ = by_hand(state, "solu_ln", TOKENS_BT)
    buffers = {"blocks.0.attn.mask": torch.ones(3, 3), "blocks.0.attn.IGNORE": torch.tensor(-1e5)}
    source = save_state(tmp_path / "hub", public_config(), {**state, **buffers}, tokenizer)
    (source / "model_final.pth").unlink()
    save_file({**state, **buffers}, source / "model.safetensors")
    with torch.no_grad():
        logits = imported(source, tmp_path / "model").model(TOKENS_BT)
    torch.testing.assert_close(logits.double(), logits_BTV, rtol=1e-4, atol=1e-4)


def test_an_imported_model_is_collected_with_both_sides_of_its_norm(
    corpus: Corpus, tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = random_state()
    source = save_state(tmp_path / "SoLU_2L16W_C4_Code", public_config(), state, tokenizer)
    assert main(["import", str(source), "--out", str(tmp_path / "model"), "--seed", "4"]) == 0
    assert "solu_ln: 2 layers of 64 units" in capsys.readouterr().out
    asked = ["collect", "--checkpoint", str(tmp_path / "model"), "--corpus", str(corpus.folder), "--kept", "3"]
    assert main([*asked, "--out", str(tmp_path / "run")]) == 0
    run = open_run(tmp_path / "run")
    info = run.info
    assert (info.condition, info.activation_point, info.window) == ("solu_ln", "before_norm", CONTEXT)
    assert (info.seed, info.train_tokens, info.size) == (4, 22_000_000_000, 12 * LAYERS * 16**2)
    assert len(run.units) == LAYERS * HIDDEN
    snippet = run.snippets("top", 5)[0]
    _, mids = by_hand(state, "solu_ln", torch.from_numpy(snippet.tokens_W.astype("int64"))[None])
    assert snippet.activations_W == pytest.approx(mids[0][0, :, 5].numpy(), rel=1e-4, abs=1e-5)


def test_training_tokens_of_the_public_models_are_known() -> None:
    assert public_train_tokens("NeelNanda/SoLU_6L768W_C4_Code") == 22_000_000_000
    assert public_train_tokens("NeelNanda/SoLU_12L1536W_C4_Code") == 30_000_000_000
    assert public_train_tokens("GELU_1L512W_C4_Code") == 22_000_000_000
    assert public_train_tokens("somebody/else") == 0


# ---- what does not fit ----------------------------------------------------------------------------


def _without(name: str) -> dict[str, torch.Tensor]:
    return {key: value for key, value in random_state().items() if key != name}


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (_without("blocks.1.mlp.W_in"), r"lacks blocks\.1\.mlp\.W_in, which should be of shape \(16, 64\)"),
        (_without("blocks.0.ln1.w"), r"lacks blocks\.0\.ln1\.w, which should be of shape \(16,\)"),
        (
            {**random_state(), "blocks.0.attn.W_Q": torch.zeros(2, 8, 16)},
            r"blocks\.0\.attn\.W_Q of shape \(2, 8, 16\); its config wants \(2, 16, 8\)",
        ),
        (
            {**random_state(), "blocks.2.ln1.w": torch.zeros(16)},
            r"blocks\.2\.ln1\.w of shape \(16,\), which its config has no place for",
        ),
        (
            {**random_state(), "unembed.b_U": torch.ones(VOCABULARY)},
            r"unembed\.b_U of shape \(384,\), which is not zero",
        ),
    ],
)
def test_a_tensor_that_does_not_fit_is_named_with_its_shapes(
    state: dict[str, torch.Tensor], said: str, tokenizer: Path, tmp_path: Path
) -> None:
    source = save_state(tmp_path / "hub", public_config(), state, tokenizer)
    with pytest.raises(RunnerError, match=said):
        imported(source, tmp_path / "model")
    assert not (tmp_path / "model" / "train.json").exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"act_fn": "gelu_new"}, "sets act_fn to 'gelu_new'; only 'gelu' or 'solu' or 'solu_ln'"),
        ({"shortformer_pos": True}, "positional_embedding_type to 'shortformer'"),
        ({"normalization": "RMS"}, "normalization to 'RMS'"),
        ({"attn_only": True}, "attn_only to True"),
        ({"final_rms": True}, "final_rms to True"),
        ({"d_mlp": 32}, "d_mlp to 32; only 64"),
        ({"d_head": 4}, "d_head to 4; only 8"),
        ({"eps": 1e-6}, "eps to 1e-06"),
        ({"positional_embedding_type": "rotary", "rotary_dim": 4}, "rotary_dim to 4; only 8"),
    ],
)
def test_a_config_that_ours_cannot_be_is_refused(
    wrong: dict[str, Any], said: str, tokenizer: Path, tmp_path: Path
) -> None:
    source = save_state(tmp_path / "hub", public_config(**wrong), random_state(), tokenizer)
    with pytest.raises(RunnerError, match=said):
        imported(source, tmp_path / "model")


def test_damaged_and_missing_files_are_refused(tokenizer: Path, tmp_path: Path) -> None:
    source = save_state(tmp_path / "hub", public_config(), random_state(), tokenizer)
    (source / "tokenizer.json").unlink()
    with pytest.raises(RunnerError, match=r"holds no tokenizer\.json"):
        imported(source, tmp_path / "model")
    weights = source / "model_final.pth"
    weights.write_bytes(weights.read_bytes()[:-2000])
    with pytest.raises(RunnerError, match=r"model_final\.pth cannot be read as a file of tensors"):
        imported(source, tmp_path / "model", tokenizer=tokenizer)
    weights.unlink()
    with pytest.raises(RunnerError, match=r"should hold one file .* holds none"):
        imported(source, tmp_path / "model", tokenizer=tokenizer)
    values = json.loads((source / "config.json").read_text())
    del values["n_ctx"]
    (source / "config.json").write_text(json.dumps(values))
    with pytest.raises(RunnerError, match="does not say n_ctx"):
        imported(source, tmp_path / "model", tokenizer=tokenizer)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("zipped", [True, False])
def test_whichever_byte_of_a_state_is_broken_it_is_a_sentence(zipped: bool, tmp_path: Path) -> None:
    file, drawn, refused = tmp_path / "model_final.pth", random.Random(0), 0
    torch.save({"a": torch.ones(3), "b": torch.zeros(2, 2)}, file, _use_new_zipfile_serialization=zipped)
    whole = file.read_bytes()
    for place in drawn.choices(range(len(whole)), k=300):
        changed = bytes([drawn.randrange(256)]) + whole[place + 1 :] if drawn.random() < 0.8 else b""
        file.write_bytes(whole[:place] + changed)
        with suppress(RunnerError):
            read_state(file)
            continue
        refused += 1
    assert refused > 100


def test_a_state_that_would_run_code_is_refused(tokenizer: Path, tmp_path: Path) -> None:
    source = save_state(tmp_path / "hub", public_config(), random_state(), tokenizer)
    torch.save({"embed.W_E": Path("/")}, source / "model_final.pth")
    with pytest.raises(RunnerError, match="cannot be read as a file of tensors"):
        imported(source, tmp_path / "model")


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"context": 1}, "The context is 1; it must be at least 2"),
        ({"context": 10**30}, "it must be at most 1,048,576"),
        ({"seed": -1}, "The seed is -1"),
        ({"train_tokens": -1}, "The number of training tokens is -1"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(wish: dict[str, int], said: str) -> None:
    with pytest.raises(RunnerError, match=said):
        Wishes(**wish)


@pytest.mark.parametrize("name", ["n_layers", "d_model", "n_heads", "d_head", "d_mlp", "n_ctx", "d_vocab"])
@pytest.mark.parametrize("value", [None, 0, -1, 1.5, 10**30, "32", [], {}])
def test_a_number_that_is_none_is_a_sentence(name: str, value: object) -> None:
    with pytest.raises(RunnerError, match=r"config\.json|must be|Width"):
        config_from_lens({**public_config(), name: value})


def test_a_text_where_a_number_belongs_is_named() -> None:
    with pytest.raises(RunnerError, match=r"config\.json says that n_heads is '2', which should be a valid integer"):
        config_from_lens({**public_config(), "n_heads": "2"})
