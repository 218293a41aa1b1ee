"""foreign.json says what the model is; where somebody changed it, nothing is collected."""

import json
from pathlib import Path

import pytest

from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.foreign.command import import_model
from model_runner.foreign.record import FOREIGN
from model_runner.foreign.wishes import Wishes
from model_runner.subject import load_subject
from tests.model_runner.foreign.families import save_model


@pytest.mark.parametrize("name", ["layers", "hidden", "size", "context"])
def test_a_record_that_says_otherwise_than_the_model_is_refused(name: str, corpus: Corpus, tmp_path: Path) -> None:
    import_model(str(save_model(tmp_path / "hub", corpus)), tmp_path / "model", Wishes())
    record = tmp_path / "model" / FOREIGN
    values = json.loads(record.read_text())
    record.write_text(json.dumps({**values, name: values[name] + 1}))
    with pytest.raises(RunnerError, match=rf"foreign\.json says {name} .* of a model with {values[name]:,}\."):
        load_subject(tmp_path / "model")


def test_what_only_our_own_models_can_is_said_of_an_imported_one(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_model(str(save_model(tmp_path / "hub", corpus)), tmp_path / "model", Wishes())
    assert main(["evaluate", "--checkpoint", str(tmp_path / "model"), "--corpus", str(corpus.folder)]) == 2
    assert "is an imported Hugging Face model, which can be collected and served" in capsys.readouterr().err


@pytest.mark.parametrize("edit", [{"num_attention_heads": 0}, {"hidden_size": 0}])
def test_a_config_that_no_model_can_have_is_a_sentence(edit: dict[str, int], corpus: Corpus, tmp_path: Path) -> None:
    source = save_model(tmp_path / "hub", corpus)
    values = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(values | edit))
    with pytest.raises(RunnerError, match="transformers cannot read the model in"):
        import_model(str(source), tmp_path / "model", Wishes())
