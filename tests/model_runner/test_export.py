"""Our checkpoints in TransformerLens's layout, and back."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model_runner.architecture.config import MLPName, ModelConfig, PositionName
from model_runner.checkpoint import load_checkpoint, save_checkpoint
from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.foreign.command import import_model
from model_runner.foreign.lens import export_lens
from model_runner.foreign.lens_config import lens_config
from model_runner.foreign.wishes import Wishes
from tests.model_runner.lens_models import by_hand
from tests.model_runner.models import random_tokens, record, scrambled, small_config, small_corpus

EXPORTABLE: tuple[MLPName, ...] = ("gelu", "solu", "solu_ln")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("corpus") / "c")


def saved(folder: Path, corpus: Corpus, config: ModelConfig) -> Path:
    save_checkpoint(folder, scrambled(config), record(tokenizer_digest=corpus.info.tokenizer_digest))
    (folder / "tokenizer.json").write_bytes((corpus.folder / "tokenizer.json").read_bytes())
    return folder


@pytest.mark.parametrize("positions", ["rotary", "learned"])
@pytest.mark.parametrize("mlp", EXPORTABLE)
def test_there_and_back_is_the_same_to_the_last_bit(
    mlp: MLPName, positions: PositionName, corpus: Corpus, tmp_path: Path
) -> None:
    config = small_config(mlp, positions=positions, rotary_base=500.0 if positions == "rotary" else 10_000.0)
    ours = saved(tmp_path / "ours", corpus, config)
    assert main(["export", "--checkpoint", str(ours), "--out", str(tmp_path / "lens")]) == 0
    import_model(str(tmp_path / "lens"), tmp_path / "back", Wishes(seed=0, train_tokens=64))
    before, after = load_checkpoint(ours), load_checkpoint(tmp_path / "back")
    assert after.config == before.config
    tokens_BT = random_tokens(config, 3)
    with torch.no_grad():
        assert torch.equal(after.model(tokens_BT), before.model(tokens_BT))
    assert after.digest == before.digest
    assert after.about == replace(before.about, validation_loss=None)


def test_the_exported_numbers_mean_what_the_layout_says(corpus: Corpus, tmp_path: Path) -> None:
    """The equations of the layout, written by hand, give our model's logits."""
    config = small_config("solu_ln", positions="learned")
    checkpoint = load_checkpoint(saved(tmp_path / "ours", corpus, config))
    export_lens(checkpoint, tmp_path / "ours", tmp_path / "lens")
    state = torch.load(tmp_path / "lens" / "model_final.pth", weights_only=True)
    tokens_BT = random_tokens(config, 2)
    with torch.no_grad():
        logits_BTV = checkpoint.model(tokens_BT)
    torch.testing.assert_close(by_hand(state, "solu_ln", tokens_BT)[0], logits_BTV.double(), rtol=1e-4, atol=1e-3)
    assert not state["unembed.b_U"].any()
    assert (tmp_path / "lens" / "tokenizer.json").read_bytes() == (corpus.folder / "tokenizer.json").read_bytes()


def test_the_config_says_rotary_as_we_turn() -> None:
    config = small_config(rotary_base=2000.0)
    said = lens_config(config)
    assert said["positional_embedding_type"] == "rotary"
    assert (said["rotary_dim"], said["rotary_base"], said["rotary_adjacent_pairs"]) == (8, 2000.0, False)
    assert json.loads(json.dumps(said)) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mlp": "gelu_ln"}, "no MLP like gelu_ln; only gelu, solu, solu_ln"),
        ({"mlp": "solu_ln", "n_blocks": 2}, "no setting for n_blocks = 2"),
    ],
)
def test_what_the_layout_cannot_say_is_refused(
    given: dict[str, Any], said: str, corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = saved(tmp_path / "ours", corpus, small_config(**given))
    assert main(["export", "--checkpoint", str(ours), "--out", str(tmp_path / "lens")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "lens").exists()


def test_a_folder_that_cannot_be_written_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    ours = saved(tmp_path / "ours", corpus, small_config())
    (tmp_path / "lens").write_text("a file stands where the folder should be")
    with pytest.raises(RunnerError, match="could not be made"):
        export_lens(load_checkpoint(ours), ours, tmp_path / "lens")
