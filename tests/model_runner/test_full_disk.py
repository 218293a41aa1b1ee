"""Disks that are full and folders that cannot be written, while a corpus is built and a model imported.

A process may be told that no file of its may grow past so many bytes: writing then really fails, in the middle
of whatever is being written.
"""

import errno
import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from model_runner.cli import main
from model_runner.corpus.store import Corpus, open_corpus
from model_runner.errors import RunnerError
from model_runner.files import write_atomically
from model_runner.foreign.command import import_model
from model_runner.foreign.wishes import Wishes
from tests.corpora import make_corpus
from tests.model_runner.corpus.test_build import build, content, many
from tests.model_runner.foreign.families import save_model
from tests.model_runner.lens_models import public_config, random_state, save_state
from tests.texts import PROSE


@contextmanager
def room_for(file_bytes: int) -> Iterator[None]:
    """No file of this process can grow past so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus") / "c", PROSE, shares={"collect": 1.0})


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    """Sizes of a finished corpus's files: with less room than each of them something of it fails."""
    folder = build(tmp_path_factory.mktemp("whole") / "corpus", many(60), vocabulary=600).folder
    return sorted({file.stat().st_size for file in folder.iterdir()})


def test_a_corpus_fails_in_a_sentence_wherever_the_disk_fills_up(sizes: list[int], tmp_path: Path) -> None:
    for size in sizes:
        with room_for(size - 1), pytest.raises(RunnerError, match=r"could not be (built|written): File too large"):
            build(tmp_path / "corpus", many(60), vocabulary=600)
        assert list(tmp_path.iterdir()) == []
    assert build(tmp_path / "corpus", many(60), vocabulary=600).info.documents == 60


def test_a_corpus_that_was_to_be_replaced_is_kept(tmp_path: Path) -> None:
    before = content(build(tmp_path / "corpus", many(3)).folder)
    with room_for(2_000), pytest.raises(RunnerError, match="Nothing is left of it, and what was there before is kept"):
        build(tmp_path / "corpus", many(60), replace=True)
    assert content(tmp_path / "corpus") == before
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_the_command_says_it_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tmp_path / "given.jsonl"
    given.write_text("".join(json.dumps({"text": text}) + "\n" for text, _ in many(60)))
    with room_for(2_000):
        assert main(["corpus", "--from", str(given), "--out", str(tmp_path / "corpus")]) == 2
    assert "could not be built: File too large" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(RunnerError, match=r"could not be made: (File exists|Not a directory)\. Give another"):
        build(tmp_path / "file" / "corpus", many(3))

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(tmp_path / ".corpus.unfinished"))

    monkeypatch.setattr(Path, "mkdir", read_only)
    with pytest.raises(RunnerError, match="Read-only file system"):
        build(tmp_path / "corpus", many(3))


def test_killed_between_the_two_renames_the_old_corpus_comes_back(tmp_path: Path) -> None:
    first = build(tmp_path / "corpus", many(3)).info.digest
    (tmp_path / "corpus").rename(tmp_path / ".corpus.old")
    with pytest.raises(RunnerError, match="is a corpus already"):
        build(tmp_path / "corpus", many(4))
    assert open_corpus(tmp_path / "corpus").info.digest == first
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_a_file_that_could_not_be_written_leaves_nothing_beside_it(tmp_path: Path) -> None:
    with room_for(100), pytest.raises(RunnerError, match="could not be written: File too large"):
        write_atomically(tmp_path / "file", b"x" * 101)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("room", [1_000, 30_000])
@pytest.mark.parametrize("kind", ["lens", "hub"])
def test_an_import_that_finds_no_room_leaves_no_folder(kind: str, room: int, corpus: Corpus, tmp_path: Path) -> None:
    tokenizer = corpus.folder / "tokenizer.json"
    source = (
        save_state(tmp_path / "hub", public_config(), random_state(), tokenizer)
        if kind == "lens"
        else save_model(tmp_path / "hub", corpus)
    )
    if kind == "hub":
        room = room if room < tokenizer.stat().st_size else 100
    with room_for(room), pytest.raises(RunnerError, match="could not be written: File too large"):
        import_model(str(source), tmp_path / "model", Wishes())
    assert not (tmp_path / "model").exists()
    import_model(str(source), tmp_path / "model", Wishes())


def test_an_import_into_a_place_that_cannot_be_written_is_said_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(RunnerError, match="could not be made: Not a directory"):
        import_model(str(tmp_path / "no such model"), tmp_path / "file" / "model", Wishes())


def test_an_import_leaves_alone_what_was_in_the_folder(corpus: Corpus, tmp_path: Path) -> None:
    source, out = save_model(tmp_path / "hub", corpus), tmp_path / "model"
    out.mkdir()
    (out / "thesis.doc").write_text("precious")
    with room_for(100), pytest.raises(RunnerError):
        import_model(str(source), out, Wishes())
    assert [path.name for path in out.iterdir()] == ["thesis.doc"]
