"""A training that was killed goes on to the same weights, and with the same config only."""

import signal
from dataclasses import replace
from pathlib import Path

import pytest

from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.train.metrics import read_metrics
from model_runner.train.train import train
from tests.model_runner.models import small_config, small_training
from tests.model_runner.train.killing import LINE, outcome, start, train_until_killed, wait_for


# Going on
@pytest.mark.parametrize("step", [1, 2, 3, 4, 6, 8])
def test_resumed_is_uninterrupted(corpus: Corpus, tmp_path: Path, step: int) -> None:
    train(small_config(), small_training(), corpus, tmp_path / "whole")
    train_until_killed(corpus, tmp_path / "killed", before=LINE, step=step)
    train(small_config(), small_training(), corpus, tmp_path / "killed")
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")


@pytest.mark.parametrize(
    "before",
    [
        *(f"model_runner.train.resume.{name}" for name in ("write_atomically", "file_digest", "write_json")),
        *(f"model_runner.checkpoint.{name}" for name in ("write_atomically", "file_digest", "write_json")),
    ],
)
def test_killed_while_something_is_written(corpus: Corpus, tmp_path: Path, before: str) -> None:
    train(small_config(), small_training(), corpus, tmp_path / "whole")
    for step in (1, 7):
        train_until_killed(corpus, tmp_path / "killed", before=before, step=step)
    train(small_config(), small_training(), corpus, tmp_path / "killed")
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")


def test_killed_before_it_could_tidy_up(corpus: Corpus, tmp_path: Path) -> None:
    train_until_killed(corpus, tmp_path, before="model_runner.train.train.forget_state")
    assert list(tmp_path.glob("resume*"))
    assert train(small_config(), small_training(), corpus, tmp_path).train.step == 8
    assert not list(tmp_path.glob("resume*"))


@pytest.mark.slow
def test_a_killed_process_goes_on_where_it_was(corpus: Corpus, tmp_path: Path) -> None:
    steps = 100
    for kill_after in (10, 40):
        with start(corpus, tmp_path / "killed", steps) as process:
            wait_for(lambda: len(read_metrics(tmp_path / "killed")) >= kill_after, process)  # noqa: B023
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert not (tmp_path / "killed" / "train.json").exists()
    for folder in ("killed", "whole"):
        with start(corpus, tmp_path / folder, steps) as process:
            assert process.wait(timeout=200) == 0
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")
    assert [line.step for line in read_metrics(tmp_path / "killed")] == list(range(1, steps + 1))


def test_a_finished_training_is_read_and_not_repeated(corpus: Corpus, tmp_path: Path) -> None:
    first = train(small_config(), small_training(), corpus, tmp_path)
    written = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    again = train(small_config(), small_training(), corpus, tmp_path)
    assert again.train == first.train
    assert {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == written
    assert set(written) == {"model.safetensors", "config.json", "train.json", "metrics.jsonl", "tokenizer.json"}


@pytest.mark.parametrize("finished", [True, False])
def test_a_changed_config_is_refused_and_nothing_lost(corpus: Corpus, tmp_path: Path, finished: bool) -> None:
    folder = tmp_path / "arm"
    if finished:
        train(small_config(), small_training(), corpus, folder)
    else:
        train_until_killed(corpus, folder, before=LINE, step=5)
    before = {file: file.read_bytes() for file in folder.iterdir()}
    for model, config, said in (
        (small_config("gelu"), small_training(), "begun with mlp 'solu_ln' and is now asked for 'gelu'"),
        (small_config(), small_training(learning_rate=0.5), "begun with learning_rate 0.002 and is now asked for 0.5"),
        (small_config(), small_training(seed=9), "begun with seed 0 and is now asked for 9"),
    ):
        with pytest.raises(RunnerError, match=said):
            train(model, config, corpus, folder)
    other = replace(corpus, info=replace(corpus.info, digest="another"))
    with pytest.raises(RunnerError, match="begun with corpus_digest"):
        train(small_config(), small_training(), other, folder)
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


def test_a_damaged_state_is_a_sentence_and_stays(corpus: Corpus, tmp_path: Path) -> None:
    train_until_killed(corpus, tmp_path, before=LINE, step=5)
    (state,) = tmp_path.glob("resume-*.safetensors")
    content = state.read_bytes()
    state.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(RunnerError, match=r"resume-4\.safetensors is damaged"):
        train(small_config(), small_training(), corpus, tmp_path)
    state.write_bytes(content)
    assert train(small_config(), small_training(), corpus, tmp_path).train.step == 8


STATE = '{"step": 1, "seconds": 1, "file": "x", "digest": "x", "identity": {}}'


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("resume.json", "{}", r"resume\.json does not say"),
        ("resume.json", "{", r"resume\.json is damaged"),
        ("resume.json", STATE.replace("1", '"x"', 1), r"says that step is 'x', which should be a valid integer"),
        (
            "resume.json",
            STATE.replace('"x"', '"resume-4.safetensors"', 1).replace("{}", "3"),
            r"says that identity is 3",
        ),
        ("metrics.jsonl", "", r"does not hold the 4 steps that were done"),
        ("metrics.jsonl", "{}\n", r"Line 1 of .*metrics\.jsonl is damaged"),
    ],
)
def test_damaged_records_are_a_sentence(corpus: Corpus, tmp_path: Path, file: str, content: str, said: str) -> None:
    train_until_killed(corpus, tmp_path, before=LINE, step=5)
    (tmp_path / file).write_text(content)
    with pytest.raises(RunnerError, match=said):
        train(small_config(), small_training(), corpus, tmp_path)


def test_a_folder_that_cannot_be_made_is_a_sentence(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(RunnerError, match="could not be made"):
        train(small_config(), small_training(), corpus, tmp_path / "file" / "arm")
