import errno
import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from model_runner.cli import main
from model_runner.corpus.files import Given, given_documents
from model_runner.corpus.store import open_corpus
from model_runner.errors import RunnerError
from tests.texts import PROSE


def lines(*records: object) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


GOOD = lines(*({"text": text, "kind": "prose", "n": 1} for text in PROSE))


def read(path: Path, part_field: str | None = None) -> list[tuple[str, str]]:
    return list(given_documents(Given(path, "text", part_field, "CC0-1.0")))


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.jsonl", bytes),
        ("a.jsonl.gz", gzip.compress),
        ("a.jsonl.zst", zstandard.compress),
        ("a.JSONL.GZ", gzip.compress),
    ],
)
def test_jsonl_is_read_plain_and_compressed(tmp_path: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / name).write_bytes(pack(GOOD))
    assert read(tmp_path / name, "kind") == [(text, "prose") for text in PROSE]
    assert read(tmp_path) == [(text, "text") for text in PROSE]


def test_zst_of_two_frames_is_read_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.zst").write_bytes(zstandard.compress(GOOD) + zstandard.compress(GOOD))
    assert len(read(tmp_path)) == 2 * len(PROSE)


def test_parquet_is_read(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"text": PROSE, "n": range(len(PROSE))}), tmp_path / "a.parquet")
    assert read(tmp_path) == [(text, "text") for text in PROSE]


def test_a_folder_of_files_tells_parts_by_folder(tmp_path: Path) -> None:
    for folder in ("letters", "poems/old"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.txt").write_text(f"In {folder}.")
    (tmp_path / "b.txt").write_text("At the root.")
    (tmp_path / "notes.pdf").write_bytes(b"\0")
    assert read(tmp_path) == [("At the root.", "text"), ("In letters.", "letters"), ("In poems/old.", "poems")]


def test_a_long_txt_is_cut_at_blank_lines_and_joins_again(tmp_path: Path) -> None:
    text = "\n\n".join(f"{number} é漢 " + " ".join(PROSE) for number in range(2_000))
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    found = [document for document, _ in read(tmp_path)]
    assert "".join(found) == text
    assert all(16_000 < len(document) <= 64_000 for document in found[:-1])
    assert all(document.endswith("\n\n") for document in found[:-1])


BAD: dict[str, tuple[str, bytes, str]] = {
    "latin1": ("a.txt", b"fine\ncaf\xe9 noir", "a.txt, line 2: byte 0xe9 is not UTF-8"),
    "cut": ("a.txt", b"fine\n\xe6\xbc", "a.txt, line 2: byte 0xe6 is not UTF-8"),
    "half a character": ("a.txt", b"\xe4", "a.txt, line 1: byte 0xe4 is not UTF-8"),
    "binary": ("a.txt", b"fine\nfine\nPK\x03\0", "a.txt, line 3: a NUL byte"),
    "late binary": ("a.txt", b"fine line\n" * 200_000 + b"\0", "a.txt, line 200001: a NUL byte"),
    "late latin1": ("a.txt", "é漢 line\n".encode() * 200_000 + b"\xff", "a.txt, line 200001: byte 0xff"),
    "empty txt": ("a.txt", b"", "a.txt is empty"),
    "blank txt": ("a.txt", b" \n\n", "a.txt is empty"),
    "empty jsonl": ("a.jsonl", b"\n", "a.jsonl is empty"),
    "not json": ("a.jsonl", GOOD + b"{'text'}\n", "a.jsonl, line 25: not valid JSON"),
    "nested": ("a.jsonl", b"[" * 100_000 + b"\n", "a.jsonl, line 1: "),
    "jsonl latin1": ("a.jsonl", GOOD + b'{"text": "\xe9"}\n', "a.jsonl, line 25: byte 0xe9 is not UTF-8"),
    "no field": ("a.jsonl", GOOD + lines({"body": "x"}), "a.jsonl, line 25: there is no field 'text'.* 'body'"),
    "null": ("a.jsonl", GOOD + lines({"text": None}), "a.jsonl, line 25: the field 'text' holds None, not text"),
    "nan": ("a.jsonl", lines({"text": float("nan")}), "a.jsonl, line 1: the field 'text' holds nan, not text"),
    "number": ("a.jsonl", lines({"text": 5}), "a.jsonl, line 1: the field 'text' holds 5, not text"),
    "empty field": ("a.jsonl", lines({"text": " \n"}), "a.jsonl, line 1: the field 'text' is empty"),
    "only NUL": ("a.jsonl", lines({"text": "\0"}), "a.jsonl, line 1: the field 'text' is empty"),
    "half a pair": ("a.jsonl", b'{"text": "a\\ud83d"}\n', r"a.jsonl, line 1: .* half of a surrogate pair \(U\+D83D\)"),
    "a list": ("a.jsonl", lines(["text"]), "a.jsonl, line 1: a list where an object is expected"),
    "cut gzip": ("a.jsonl.gz", gzip.compress(GOOD)[:-20], "a.jsonl.gz cannot be read after line"),
    "no gzip": ("a.jsonl.gz", GOOD, "a.jsonl.gz cannot be read after line 0"),
    "endless number": ("a.jsonl", b'{"text": "a", "n": ' + b"1" * 5_000 + b"}\n", "a.jsonl, line 1: not valid JSON"),
    "cut zst": ("a.jsonl.zst", zstandard.compress(GOOD)[:-20], "a.jsonl.zst cannot be read after line .* cut short"),
    "no zst": ("a.jsonl.zst", GOOD, "a.jsonl.zst cannot be read after line 0"),
    "no parquet": ("a.parquet", GOOD, "a.parquet cannot be read after row 0"),
    "other ending": ("a.csv", b"text\n", "a.csv ends in none of .txt"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_a_sentence_and_no_corpus(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, content, sentence = BAD[kind]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RunnerError, match=sentence):
        read(tmp_path / name)
    out = tmp_path / "out" / "corpus"
    assert main(["corpus", "--from", str(tmp_path / name), "--out", str(out)]) == 2
    assert name in capsys.readouterr().err
    assert not out.exists()
    assert list(out.parent.glob("*")) == list(out.parent.glob(".*unfinished")) == []


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ({"text": ["fine", None]}, "a.parquet, row 2: the field 'text' holds None, not text"),
        ({"text": [1.5, float("nan")]}, "a.parquet, row 1: the field 'text' holds 1.5, not text"),
        ({"text": ["fine"] * 1_500 + [" "]}, "a.parquet, row 1501: the field 'text' is empty"),
        ({"body": ["fine"]}, "a.parquet has no column 'text'; its columns are 'body'"),
        ({"text": pyarrow.array([], "string")}, "a.parquet has no rows"),
    ],
)
def test_bad_parquet_is_a_sentence(tmp_path: Path, column: dict[str, list[object]], sentence: str) -> None:
    pyarrow.parquet.write_table(pyarrow.table(column), tmp_path / "a.parquet")
    with pytest.raises(RunnerError, match=sentence):
        read(tmp_path / "a.parquet")


def test_two_columns_of_one_name_are_refused_where_that_one_is_read(tmp_path: Path) -> None:
    columns = [pyarrow.array(["one"]), pyarrow.array(["two"]), pyarrow.array(["three"])]
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns, names=["text", "more", "text"]), path)
    with pytest.raises(RunnerError, match=r"a\.parquet has 2 columns 'text', and nobody knows which is meant"):
        read(path)
    pyarrow.parquet.write_table(pyarrow.table(columns, names=["text", "more", "more"]), path)
    assert [text for text, _ in read(path)] == ["one"]


def test_folders_behind_links_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "there/a.txt").write_text("Over there.")
    (tmp_path / "here/loop").symlink_to(tmp_path / "here")
    (tmp_path / "here/linked").symlink_to(tmp_path / "there")
    assert read(tmp_path / "here") == [("Over there.", "linked")]


def test_a_link_to_nothing_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to("nowhere.txt")
    with pytest.raises(RunnerError, match=r"a\.txt is a link to nothing"):
        read(tmp_path)


def test_a_folder_that_cannot_be_read_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(path: str) -> Iterator[os.DirEntry[str]]:
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return listed(path)

    listed = os.scandir
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.txt").write_text("Fine.")
    assert read(tmp_path) == [("Fine.", "text")]
    monkeypatch.setattr(os, "scandir", closed)
    with pytest.raises(RunnerError, match=r"closed cannot be read: Permission denied\. Make it readable"):
        read(tmp_path)


def test_a_name_that_is_not_utf8_is_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "a.txt").write_text("Fine.")
    with pytest.raises(RunnerError, match=r"caf\\xe9/a\.txt' is not UTF-8\. Rename it"):
        read(tmp_path)


def test_the_folder_one_is_in_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("dog bites man")
    monkeypatch.chdir(tmp_path)
    assert main(["corpus", "--from", ".", "--out", "corpus"]) == 0
    info = open_corpus(tmp_path / "corpus").info
    assert info.name == info.sources[0].name == tmp_path.name


def test_nothing_to_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="does not exist"):
        read(tmp_path / "nowhere")
    with pytest.raises(RunnerError, match=r"has no file that ends in \.txt"):
        read(tmp_path)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(copies: int) -> int:
        path = tmp_path / f"{copies}.jsonl"
        path.write_bytes(GOOD * copies)
        tracemalloc.start()
        for _ in given_documents(Given(path, "text", None, "CC0-1.0")):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(2_000) < peak(200) + 100_000


def test_a_three_word_corpus_works_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("three little words")
    command = [sys.executable, "-m", "model_runner.cli", "corpus", "--from", str(tmp_path / "a.txt")]
    done = subprocess.run([*command, "--out", str(tmp_path / "corpus")], capture_output=True, text=True, check=True)
    assert "1 document of 1 part, " in done.stdout
    corpus = open_corpus(tmp_path / "corpus")
    assert corpus.text(0) == "three little words"
    assert (tmp_path / "corpus") in [path for path in tmp_path.iterdir() if not path.name.startswith(".")]
