"""What cannot be imported is refused with a sentence."""

# Shape suffixes: B batch, T tokens, D model width, F hidden units.
import warnings
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.foreign.command import import_model
from model_runner.foreign.record import FOREIGN
from model_runner.foreign.wishes import Wishes
from model_runner.subject import load_subject
from tests.model_runner.foreign.families import FAMILIES, random_model, save_model

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the library warns of its own old names while it is imported
    import transformers


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
    with pytest.raises(RunnerError, match="holds an imported model already"):
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
