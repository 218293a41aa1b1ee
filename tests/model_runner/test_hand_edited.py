"""JSON files that somebody edited by hand: a value of another type is a sentence with file, field and value."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from model_runner.architecture.model import new_model
from model_runner.checkpoint import load_checkpoint, save_checkpoint
from model_runner.corpus.store import open_corpus
from model_runner.errors import RunnerError
from model_runner.evaluation.document_losses import document_losses
from model_runner.evaluation.evaluation import load_evaluation, save_evaluation, summary
from model_runner.foreign.record import ForeignRecord, read_record, write_record
from model_runner.run.error import RunFolderError
from model_runner.run.folder import open_run
from model_runner.run.rules import RunRules, UnitRule, as_json, rules_digest
from model_runner.train.metrics import Metrics, append_metrics, read_metrics
from model_runner.train.optimizer import new_optimizer
from model_runner.train.resume import DEFAULTS, Reached, load_state, save_state
from tests.conftest import Copy
from tests.model_runner.models import random_tokens, record, small_config, small_corpus, small_training
from tests.runs import make_run

ODD: list[Any] = [None, True, -1, 1.5, 10**30, "", "three\0", [], [None], {}, {"a": None}, float("nan")]
IDENTITY = {**DEFAULTS, "seed": 0}


class File(NamedTuple):
    """A file of a folder, and what reads it."""

    folder: str
    name: str
    read: Callable[[Path], object]


def _read_run(folder: Path) -> object:
    return open_run(folder, every_byte=True)


def _read_state(folder: Path) -> object:
    model = new_model(small_config(), 0)
    return load_state(folder, model, new_optimizer(model, small_training()), IDENTITY)


def _read_evaluation(folder: Path) -> object:
    return load_evaluation(folder, load_checkpoint(folder).digest)


FILES = (
    File("corpus", "corpus.json", open_corpus),
    File("checkpoint", "config.json", load_checkpoint),
    File("checkpoint", "train.json", load_checkpoint),
    File("checkpoint", "evaluation.json", _read_evaluation),
    File("checkpoint", "resume.json", _read_state),
    File("checkpoint", "metrics.jsonl", read_metrics),
    File("foreign", "foreign.json", read_record),
    File("run", "run.json", _read_run),
    File("run", "rules.json", _read_run),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every one of the files."""
    folder = tmp_path_factory.mktemp("made")
    _make_checkpoint(folder)
    _make_foreign(folder / "foreign")
    _make_run(folder / "run")
    return folder


def _make_checkpoint(folder: Path) -> None:
    corpus = small_corpus(folder / "corpus")
    model = new_model(small_config(), 0)
    optimizer = new_optimizer(model, small_training())
    model(random_tokens(model.config, 1)).sum().backward()
    optimizer.step()
    checkpoint = save_checkpoint(folder / "checkpoint", model, record(computed_on=[{"from_step": 1}]))
    save_state(folder / "checkpoint", model, optimizer, Reached(2, 1.5, ({"from_step": 1},)), IDENTITY)
    rows = document_losses(model, corpus, corpus.in_split("heldout")[:3])
    save_evaluation(folder / "checkpoint", summary(rows, checkpoint, corpus.info.digest), rows)
    metrics = {"learning_rate": 0.1, "gradient_norm": 1.5, "tokens_per_second": 10.5}
    append_metrics(folder / "checkpoint", Metrics(step=1, tokens=64, loss=6.5, val_loss=None, **metrics))


def _make_foreign(folder: Path) -> None:
    folder.mkdir()
    numbers = {"size": 1, "layers": 1, "hidden": 4, "context": 8, "seed": 0, "train_tokens": 0}
    names = {"source": "x", "folder": str(folder), "architecture": "X", "condition": "gelu", "tokenizer_digest": "t"}
    write_record(folder, ForeignRecord(**numbers, **names, gguf_file=None, weights={}))


def _make_run(folder: Path) -> None:
    run = make_run(folder)
    units = [
        UnitRule(
            unit=0,
            verdict="INTERPRETABLE",
            rule='token " a"',
            kind="token",
            covered=18,
            of=20,
            base_rate=0.25,
            hypothesis="Fires.",
        )
    ]
    rules = RunRules(run_digest=run.info.digest, settings={"seed": 0}, units=units)
    rules = replace(rules, digest=rules_digest(as_json(rules)))
    (folder / "rules.json").write_text(json.dumps(as_json(rules)))


def _places(values: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where something lies: the fields, those of the records in them, and one element of each list."""
    if at:
        yield at
    entries = values.items() if isinstance(values, dict) else enumerate(values[:1]) if isinstance(values, list) else ()
    for name, value in entries:
        yield from _places(value, (*at, name))


def _edited(values: Any, at: tuple[str | int, ...], value: Any) -> Any:
    copy = json.loads(json.dumps(values))
    inner = copy
    for name in at[:-1]:
        inner = inner[name]
    inner[at[-1]] = value
    return copy


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_value_of_another_type_is_a_sentence_with_file_field_and_value(made: Path, copy_of: Copy, file: File) -> None:
    folder = copy_of(made / file.folder)
    values = json.loads((folder / file.name).read_text())
    file.read(folder)
    for name in values.keys() - {"format", "arrays"}:
        wrong = 3 if isinstance(values[name], str | dict) or name == "gguf_file" else "three"
        (folder / file.name).write_text(json.dumps(values | {name: wrong}) + "\n")
        with pytest.raises(
            (RunnerError, RunFolderError), match=rf"{re.escape(file.name)}.* {name} is {wrong!r}, which"
        ):
            file.read(folder)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_whatever_stands_in_a_field_nothing_breaks(made: Path, copy_of: Copy, file: File) -> None:
    folder = copy_of(made / file.folder)
    values = json.loads((folder / file.name).read_text())
    refused = 0
    for at in _places(values):
        for value in ODD:
            (folder / file.name).write_text(json.dumps(_edited(values, at, value)) + "\n")
            with suppress(RunnerError, RunFolderError):
                file.read(folder)
                continue
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
@pytest.mark.parametrize(
    ("file", "field"),
    [
        ("train.json", "val_loss"),
        ("evaluation.json", "bits_per_byte"),
        ("metrics.jsonl", "loss"),
    ],
)
def test_a_number_that_is_none_is_refused_where_it_is_read(
    made: Path, copy_of: Copy, file: str, field: str, odd: float
) -> None:
    folder = copy_of(made / "checkpoint")
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: odd}) + "\n")
    read = next(one.read for one in FILES if one.name == file)
    with pytest.raises(RunnerError, match=rf"{file}.* says that {field} is {odd}, which should be a finite number"):
        read(folder)
