import json
from pathlib import Path

import numpy as np
import pytest

from model_runner.corpus.info import SPLITS
from model_runner.corpus.parts import READABLE, readable
from model_runner.corpus.store import open_corpus
from model_runner.errors import RunnerError
from tests.corpora import document_of, make_corpus
from tests.texts import PROSE

DOCUMENTS = [(text, "prose" if number % 2 else "python") for number, text in enumerate(PROSE)]
ARRAYS = ("tokens.npy", "documents.npy", "chunks.npy", "token_bytes.npy", "token_offsets.npy")


def test_what_was_put_in_comes_out(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", DOCUMENTS)
    assert sorted(corpus.text(number) for number in range(corpus.info.documents)) == sorted(PROSE)
    for text, part in DOCUMENTS:
        assert corpus.info.parts[corpus.documents["part"][document_of(corpus, text)]] == part
    assert corpus.info.sources[0].licence == "CC0-1.0"
    assert sum(sum(parts.values()) for parts in corpus.info.counts.values()) == len(corpus.tokens)


def test_splits_divide_the_documents(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", DOCUMENTS)
    everything = np.concatenate([corpus.in_split(split) for split in SPLITS])
    assert sorted(everything.tolist()) == list(range(len(DOCUMENTS)))
    train = corpus.in_split("train")
    by_part = [corpus.in_split("train", [part]) for part in corpus.info.parts]
    assert sorted(np.concatenate(by_part).tolist()) == train.tolist() == sorted(train.tolist())
    assert corpus.in_split("train", []).tolist() == []


def test_a_split_does_not_depend_on_the_other_documents(tmp_path: Path) -> None:
    all_of_them = make_corpus(tmp_path / "all", DOCUMENTS)
    some = make_corpus(tmp_path / "some", DOCUMENTS[:5])
    for text, _ in DOCUMENTS[:5]:
        here, there = document_of(all_of_them, text), document_of(some, text)
        assert all_of_them.documents["split"][here] == some.documents["split"][there]


def test_unknown_names_and_numbers_are_refused(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", DOCUMENTS)
    with pytest.raises(RunnerError, match="no split 'test'; the splits are train"):
        corpus.in_split("test")
    with pytest.raises(RunnerError, match="no part 'poems'; its parts are prose, python"):
        corpus.in_split("train", ["python", "poems"])
    for number in (-1, len(DOCUMENTS)):
        with pytest.raises(IndexError, match=f"no document {number}"):
            corpus.document_tokens(number)


def test_a_folder_that_is_no_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="is not a finished corpus"):
        open_corpus(tmp_path)


@pytest.mark.parametrize("value", [0, 2, "1", None])
def test_an_unknown_format_is_refused(tmp_path: Path, value: object) -> None:
    folder = make_corpus(tmp_path / "corpus", DOCUMENTS).folder
    fields = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    (folder / "corpus.json").write_text(json.dumps({**fields, "format": value}))
    with pytest.raises(RunnerError, match=f"has format {value!r} and this version reads format 1"):
        open_corpus(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"format": 1}', '{"format": 1, "sources": []}'])
def test_a_damaged_corpus_json_is_refused(tmp_path: Path, content: str) -> None:
    folder = make_corpus(tmp_path / "corpus", DOCUMENTS).folder
    (folder / "corpus.json").write_text(content)
    with pytest.raises(RunnerError, match="Build the corpus again"):
        open_corpus(folder)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("size", [0, 40, -1])
def test_a_truncated_array_is_refused(tmp_path: Path, name: str, size: int) -> None:
    path = make_corpus(tmp_path / "corpus", DOCUMENTS).folder / name
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(RunnerError, match=rf"{name} is missing or cut short"):
        open_corpus(tmp_path / "corpus")


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_another_corpus_is_refused(tmp_path: Path, name: str) -> None:
    make_corpus(tmp_path / "corpus", DOCUMENTS)
    other = make_corpus(tmp_path / "other", [*PROSE[:3], "one more, and quite another one"], vocabulary=300)
    (other.folder / name).rename(tmp_path / "corpus" / name)
    with pytest.raises(RunnerError, match=rf"{name} (holds|is missing)"):
        open_corpus(tmp_path / "corpus")


def test_readable_is_what_a_corpus_has_of_it() -> None:
    assert readable(["base64", "plays", "python"]) == ["plays", "python"]
    assert readable(["base64", "text"]) == ["base64", "text"]
    assert len(set(READABLE)) == len(READABLE)
