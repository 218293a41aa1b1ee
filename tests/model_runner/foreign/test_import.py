"""`glance-runner import`: a model written to disk as the hub has it, read back, and collected."""

# Shape suffixes: B batch, T tokens, D model width, F hidden units.
from pathlib import Path

import pytest
import torch

from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.foreign.command import import_model
from model_runner.foreign.huggingface import Foreign, load_foreign
from model_runner.foreign.wishes import Wishes
from model_runner.run.folder import open_run
from model_runner.subject import load_subject
from tests.model_runner.foreign.families import (
    CONTEXTLESS,
    FAMILIES,
    LAYERS,
    WIDTH,
    random_model,
    save_model,
    tokens_BT,
)


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
