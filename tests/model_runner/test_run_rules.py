"""The rules of a run as they lie in its folder: found by the command, read back, refused when anything is off."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.rules.grammar import parse
from model_runner.run.error import RunFolderError
from model_runner.run.folder import Run, open_run
from model_runner.run.rules import RULES_NAME, RunRules, rules_digest
from tests.corpora import make_corpus
from tests.planted import at_random, fires_where, mixed_corpus, planted_run
from tests.runs import make_run

Copy = Callable[[Path], Path]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return mixed_corpus(tmp_path_factory.mktemp("rules") / "corpus")


@pytest.fixture(scope="module")
def found(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Run:
    plants = [
        fires_where(lambda site: site.token == b" bread"),
        at_random,
        fires_where(lambda site: site.in_document == 0),
    ]
    never = fires_where(lambda _: False)
    run = planted_run(tmp_path_factory.mktemp("rules") / "run", corpus, [*plants, lambda *_: -1.0, never])
    assert main(["rules", "--run", str(run.folder), "--corpus", str(corpus.folder)]) == 0
    return run


def rules_of(run: Run) -> RunRules:
    rules = run.rules()
    assert rules is not None
    return rules


def test_every_unit_that_can_be_shown_is_judged(found: Run) -> None:
    rules = rules_of(found)
    verdicts = {unit.unit: unit.verdict for unit in rules.units}
    assert verdicts == dict.fromkeys((0, 2), "INTERPRETABLE") | dict.fromkeys((1, 4), "NOT_INTERPRETABLE")
    assert rules.fraction == 0.5
    bread, random = rules.units[0], rules.units[1]
    assert (bread.rule, bread.covered, bread.of) == ('token " bread"', 20, 20)
    assert [unit.kind for unit in rules.units if unit.verdict == "INTERPRETABLE"] == ["token", "place"]
    assert bread.hypothesis == 'Fires on the token " bread".'
    assert 0 < bread.base_rate < 0.05
    assert random.hypothesis == ""
    assert random.covered < 16
    assert parse(random.rule)


def test_the_run_itself_is_not_touched(found: Run, corpus: Corpus) -> None:
    assert open_run(found.folder, every_byte=True).info == found.info
    assert rules_of(found).run_digest == found.info.digest


def test_rules_that_are_there_are_kept_and_again_gives_the_same_bytes(
    found: Run, corpus: Corpus, copy_of: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_of(found.folder)
    before, at = (folder / RULES_NAME).read_bytes(), (folder / RULES_NAME).stat().st_mtime_ns
    command = ["rules", "--run", str(folder), "--corpus", str(corpus.folder)]
    assert main(command) == 0
    assert (folder / RULES_NAME).stat().st_mtime_ns == at
    assert main([*command, "--again"]) == 0
    assert (folder / RULES_NAME).read_bytes() == before
    assert (folder / RULES_NAME).stat().st_mtime_ns > at
    assert "a rule for 2 of 4 units (50.0%)" in capsys.readouterr().out


def test_a_run_without_rules_has_none(tmp_path: Path) -> None:
    assert make_run(tmp_path / "run").rules() is None


def test_another_corpus_is_refused(tmp_path: Path, corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path / "run")
    assert main(["rules", "--run", str(run.folder), "--corpus", str(corpus.folder)]) == 2
    assert "Give the corpus that the run was collected over." in capsys.readouterr().err
    assert not (run.folder / RULES_NAME).exists()


def test_a_run_that_was_written_over_is_refused(
    found: Run, corpus: Corpus, copy_of: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_of(found.folder)
    content = bytearray((folder / "top.snippets.npy").read_bytes())
    content[-400:] = b"\x7f" * 400
    (folder / "top.snippets.npy").write_bytes(content)
    assert main(["rules", "--run", str(folder), "--corpus", str(corpus.folder), "--again"]) == 2
    assert "top.snippets.npy was changed after the run was collected" in capsys.readouterr().err


def test_another_corpus_is_refused_where_rules_are_there_already(
    found: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_corpus(tmp_path / "other", ["one text", "and another one"])
    assert main(["rules", "--run", str(found.folder), "--corpus", str(other.folder)]) == 2
    said = capsys.readouterr()
    assert f"was collected over the corpus {found.info.corpus_digest[:12]}" in said.err
    assert said.out == ""


def _changed(raw: dict[str, Any], **changes: Any) -> dict[str, Any]:
    raw |= changes
    return raw | {"digest": rules_digest(raw)}


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda raw: raw | {"run_digest": "0" * 64}, "was changed after it was written"),
        (lambda raw: _changed(raw, run_digest="0" * 64), "is about another run"),
        (lambda raw: _changed(raw, format=2), "format 2"),
        (lambda raw: _changed(raw, more=1), "says more, which this program does not know"),
        (lambda raw: {name: value for name, value in raw.items() if name != "settings"}, "does not say settings"),
        (lambda raw: _changed(raw, units=raw["units"][:1] * 2), "twice"),
        (lambda raw: _changed(raw, units=[raw["units"][0] | {"unit": 99}]), "that the run does not have"),
        (lambda raw: _changed(raw, units=[raw["units"][0] | {"verdict": "PERHAPS"}]), "PERHAPS"),
        (lambda raw: [raw], "not a JSON object"),
    ],
)
def test_rules_that_cannot_be_trusted_are_refused(
    found: Run, copy_of: Copy, damage: Callable[[dict[str, Any]], Any], says: str
) -> None:
    folder = copy_of(found.folder)
    raw = json.loads((folder / RULES_NAME).read_text())
    (folder / RULES_NAME).write_text(json.dumps(damage(raw)))
    with pytest.raises(RunFolderError, match=says):
        open_run(folder).rules()
    with pytest.raises(RunFolderError, match=says):
        open_run(folder, every_byte=True)


def test_a_file_cut_short_is_refused_and_again_repairs_it(found: Run, corpus: Corpus, copy_of: Copy) -> None:
    folder = copy_of(found.folder)
    whole = (folder / RULES_NAME).read_bytes()
    (folder / RULES_NAME).write_bytes(whole[: len(whole) // 2])
    command = ["rules", "--run", str(folder), "--corpus", str(corpus.folder)]
    assert main(command) == 2
    assert main([*command, "--again"]) == 0
    assert (folder / RULES_NAME).read_bytes() == whole
