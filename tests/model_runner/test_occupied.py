"""No command spoils a folder of another kind, whatever --out says."""

from pathlib import Path

import pytest

from model_runner.checkpoint import load_checkpoint, save_checkpoint
from model_runner.cli import main
from model_runner.corpus.store import Corpus, open_corpus
from model_runner.occupied import KINDS
from tests.conftest import Copy
from tests.corpora import make_corpus
from tests.model_runner.models import record, scrambled, small_config, small_corpus

COMMANDS = {
    "train": ["--mlp", "gelu", "--corpus", "CORPUS"],
    "swap": ["--checkpoint", "MODEL", "--corpus", "CORPUS"],
    "collect": ["--checkpoint", "MODEL", "--corpus", "CORPUS"],
    "import": ["nowhere"],
    "export": ["--checkpoint", "MODEL"],
}


def run(command: str, model: Path, corpus: Corpus, out: Path) -> int:
    meant = {"MODEL": str(model), "CORPUS": str(corpus.folder)}
    return main([command, *(meant.get(word, word) for word in COMMANDS[command]), "--out", str(out)])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("corpus") / "corpus")


@pytest.fixture(scope="module")
def model(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_checkpoint(folder, scrambled(small_config()), record(tokenizer_digest=corpus.info.tokenizer_digest))
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_another_corpus_stays_as_it_is(
    command: str, model: Path, corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_corpus(tmp_path / "other", ["quite another text"] * 3).folder
    assert run(command, model, corpus, other) == 2
    assert (
        "holds a corpus already (corpus.json), which would be spoilt. Choose another --out." in capsys.readouterr().err
    )
    open_corpus(other)
    assert not list(other.glob("*.part*"))


def test_a_checkpoint_is_not_exported_over_itself(
    model: Path, copy_of: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    """TransformerLens's config.json has the name of ours."""
    own = copy_of(model)
    assert main(["export", "--checkpoint", str(own), "--out", str(own)]) == 2
    assert "holds a checkpoint already (train.json)" in capsys.readouterr().err
    load_checkpoint(own)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "train.json"])
def test_a_model_is_not_trained_into_another_ones_folder(
    name: str, corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An imported model would be collected in its place."""
    (tmp_path / name).write_text("{}")
    assert run("train", tmp_path, corpus, tmp_path) == 2
    said = capsys.readouterr().err
    assert ("resume.json does not say" if name == "resume.json" else f"({name}), which would be spoilt") in said
    assert [path.name for path in tmp_path.iterdir()] == [name]
