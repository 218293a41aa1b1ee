import fcntl
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TextIO

import pytest

from model_runner.corpus.build import BuildConfig, build_corpus
from model_runner.corpus.documents import Document, clean
from model_runner.corpus.folder import appearing
from model_runner.corpus.info import SPLITS, Source
from model_runner.corpus.splits import SHARES
from model_runner.corpus.store import Corpus, open_corpus
from model_runner.errors import RunnerError
from tests.corpora import make_corpus
from tests.texts import PROSE


def source(parts: list[str]) -> tuple[Source, ...]:
    return (Source(name="made up", version="1", licence="CC0-1.0", parts=tuple(parts)),)


def build(out: Path, documents: list[Document], **config: object) -> Corpus:
    return build_corpus(out, lambda: documents, source, BuildConfig(**config))  # type: ignore[arg-type]


def many(count: int, seed: int = 0) -> list[Document]:
    generator = random.Random(seed)
    return [Document(" ".join(generator.choices(PROSE, k=60)), f"part{n % 3}") for n in range(count)]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_builds_are_byte_identical_in_whatever_order(tmp_path: Path) -> None:
    documents = many(400)
    one = build(tmp_path / "one", documents)
    two = build(tmp_path / "two", documents[::-1])
    assert content(one.folder) == content(two.folder)
    assert len(content(one.folder)) == 7


def test_the_digest_tells_texts_apart_and_not_names(tmp_path: Path) -> None:
    documents = many(5)
    one = build(tmp_path / "one", documents).info.digest
    assert build(tmp_path / "named", documents, name="other").info.digest == one
    assert build(tmp_path / "more", many(6)).info.digest != one
    assert build(tmp_path / "parts", [Document(text, "one") for text, _ in documents]).info.digest != one
    assert build(tmp_path / "split", documents, shares={"collect": 1.0}).info.digest != one


def test_equal_documents_are_kept_once(tmp_path: Path) -> None:
    corpus = build(tmp_path / "corpus", [*many(5), *many(5), Document("", "empty"), Document(" \n", "blank")])
    assert corpus.info.documents == 5
    assert corpus.info.parts == ("part0", "part1", "part2")


def test_text_is_cleaned() -> None:
    assert clean("\ufeffa\r\nb\rc\x0cd\0e\n") == "a\nb\nc\nde\n"
    assert clean("  spaces\u00a0stay \t\n") == "  spaces\u00a0stay \t\n"


def test_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="There is no text"):
        build(tmp_path / "corpus", [Document("\0\n", "blank")])
    assert not (tmp_path / "corpus").exists()


def test_shares_are_kept_and_checked(tmp_path: Path) -> None:
    corpus = build(tmp_path / "corpus", [Document(f"document {n}", "text") for n in range(4_000)], vocabulary=300)
    for split, share in SHARES.items():
        # Five standard errors of a binomial count.
        assert abs(len(corpus.in_split(split)) - 4_000 * share) < 5 * (4_000 * share * (1 - share)) ** 0.5
    for shares in ({"train": 0.5}, {"test": 1.0}, {"train": 1.5, "check": -0.5}):
        with pytest.raises(RunnerError, match="add up to 1"):
            build(tmp_path / "bad", many(3), shares=shares)


@pytest.mark.parametrize("split", SPLITS)
def test_everything_can_be_put_into_one_split(tmp_path: Path, split: str) -> None:
    corpus = make_corpus(tmp_path / "corpus", PROSE, shares={split: 1.0})
    assert len(corpus.in_split(split)) == len(PROSE)


def test_a_large_vocabulary_and_given_tokenizer(tmp_path: Path) -> None:
    learned = build(tmp_path / "learned", many(50), vocabulary=600)
    given = build(tmp_path / "given", many(60, seed=1), tokenizer=learned.folder / "tokenizer.json")
    assert given.info.tokenizer_digest == learned.info.tokenizer_digest
    assert {given.text(n) for n in range(60)} == {text for text, _ in many(60, seed=1)}


def test_existing_folders_are_not_written_over(tmp_path: Path) -> None:
    first = build(tmp_path / "corpus", many(3)).info.digest
    with pytest.raises(RunnerError, match="is a corpus already"):
        build(tmp_path / "corpus", many(4))
    assert open_corpus(tmp_path / "corpus").info.digest == first
    assert build(tmp_path / "corpus", many(4), replace=True).info.digest != first
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.doc").write_text("precious")
    with pytest.raises(RunnerError, match="is not a corpus, so it is left alone"):
        build(tmp_path / "other", many(3), replace=True)
    assert (tmp_path / "other" / "thesis.doc").read_text() == "precious"


def test_a_failed_replacement_leaves_the_old_corpus(tmp_path: Path) -> None:
    first = build(tmp_path / "corpus", many(3)).info.digest
    with pytest.raises(RunnerError):
        build(tmp_path / "corpus", [], replace=True)
    assert open_corpus(tmp_path / "corpus").info.digest == first
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_two_builds_of_one_folder_at_once_are_refused(tmp_path: Path) -> None:
    with appearing(tmp_path / "corpus", replace=False):
        with pytest.raises(RunnerError, match=r"Another build of .* is under way"):
            build(tmp_path / "corpus", many(3))
        assert (tmp_path / ".corpus.unfinished").is_dir()


def test_a_build_that_ends_while_another_begins_lets_only_one_more_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, flock, third = tmp_path / ".corpus.lock", fcntl.flock, []

    def after_the_first_has_ended(file: TextIO, operation: int) -> None:
        if not third:
            lock.unlink()
            third.append(lock.open("w"))
            flock(third[0], fcntl.LOCK_EX)
        flock(file, operation)

    monkeypatch.setattr("fcntl.flock", after_the_first_has_ended)
    with pytest.raises(RunnerError, match=r"Another build of .* is under way"):
        build(tmp_path / "corpus", many(3))
    third[0].close()
    assert build(tmp_path / "corpus", many(3)).info.documents == 3


@pytest.mark.parametrize("moment", ["texts.bin", "tokenizer.json", "signatures.bin"])
def test_killed_in_the_middle_leaves_no_corpus_and_the_next_build_is_whole(tmp_path: Path, moment: str) -> None:
    given, out = tmp_path / "given.jsonl", tmp_path / "corpus"
    given.write_text("".join(json.dumps({"text": text}) + "\n" for text, _ in many(1_000)))
    command = [sys.executable, "-m", "model_runner.cli", "corpus", "--from", str(given), "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _wait_for(tmp_path / ".corpus.unfinished" / moment, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists()
    with pytest.raises(RunnerError, match="is not a finished corpus"):
        open_corpus(tmp_path / ".corpus.unfinished")
    subprocess.run(command, check=True, capture_output=True)
    assert open_corpus(out).info.documents == 1_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "given.jsonl"]


def _wait_for(path: Path, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None, "the build ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.001)
