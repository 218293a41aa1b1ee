"""What cannot be collected, or not into this folder, is refused with a sentence."""

from pathlib import Path

import pytest

from model_runner.checkpoint import Checkpoint
from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.hold import hold
from model_runner.run.info import INFO_NAME
from tests.corpora import make_corpus
from tests.model_runner.collect.collecting import CONFIG, files_of


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (CollectConfig(split="train"), "There is no text in"),
        (CollectConfig(window=17), "longer than the model's context of 16"),
        (CollectConfig(window=1), "no room for text"),
        (CollectConfig(block=65_537), "at most 1,048,576 tokens, which is --block 65536"),
        (CollectConfig(parts=("opera",)), "has no part 'opera'"),
    ],
)
def test_what_cannot_be_collected_is_refused(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, config: CollectConfig, said: str
) -> None:
    with pytest.raises(RunnerError, match=said):
        collect(checkpoint, corpus, tmp_path / "run", config)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kept": 0},
        {"kept": 1_001},
        {"window": 0},
        {"window": -3},
        {"tokens": 0},
        {"block": 0},
        {"block": 10**30},
        {"window": 10**30},
        {"tokens": 10**30},
        {"directions": 10_001},
        {"directions": 10**30},
        {"directions_seed": 10**30},
        {"split": "all"},
        {"parts": ()},
    ],
)
def test_a_senseless_wish_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(RunnerError, match=next(iter(wrong))[:-1]):
        CollectConfig(**wrong)  # type: ignore[arg-type]


def test_another_tokenizer_is_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    other = make_corpus(tmp_path / "other", ["quite another text"] * 3, shares={"collect": 1.0})
    with pytest.raises(RunnerError, match="was made with"):
        collect(checkpoint, other, tmp_path / "run", CONFIG)


def test_two_at_once_do_not_write_into_one_folder(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with hold(folder), pytest.raises(RunnerError, match="Another process is writing into"):
        collect(checkpoint, corpus, folder, CONFIG)
    collect(checkpoint, corpus, folder, CONFIG)
    with hold(folder):
        assert collect(checkpoint, corpus, folder, CONFIG).kept == CONFIG.kept


def test_a_finished_folder_that_is_damaged_is_refused(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    (tmp_path / "run" / "top.tokens.npy").unlink()
    with pytest.raises(RunnerError, match=r"top\.tokens\.npy is missing"):
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)


def test_a_folder_that_cannot_be_written_is_refused(checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file stands where the folder should be")
    with pytest.raises(RunnerError, match="could not be written"):
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)


@pytest.mark.parametrize("name", ["run.json", "units.npy", "top.snippets.npy", "token_bytes.npy"])
def test_a_finished_folder_cut_short_is_refused_and_left_alone(
    checkpoint: Checkpoint, corpus: Corpus, tmp_path: Path, name: str
) -> None:
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    path = tmp_path / "run" / name
    path.write_bytes(path.read_bytes()[:-9])
    before = files_of(tmp_path / "run")
    with pytest.raises(RunnerError, match=rf"{name}.*(Delete|damaged)"):
        collect(checkpoint, corpus, tmp_path / "run", CONFIG)
    assert files_of(tmp_path / "run") == before
    (tmp_path / "run" / INFO_NAME).unlink()
    collect(checkpoint, corpus, tmp_path / "run", CONFIG)
