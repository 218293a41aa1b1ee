import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from tokenizers.trainers import BpeTrainer

from model_runner.corpus.encoding import encode_texts
from model_runner.errors import RunnerError
from model_runner.tokenizer import (
    BOS,
    bos_id,
    digest,
    flatten,
    load_tokenizer,
    token_bytes,
    train_tokenizer,
    vocab_size,
)
from tests.texts import PROSE

ODD = (
    "“curly” — dash… é Ж 漢 ‍",
    "👩‍👩‍👧‍👦 👍🏽 🇫🇷",
    "  leading\n\n\ttab   trailing  ",
    "no\u00a0break zero\u200bwidth line\u2028separator",
    "<script>alert('{{7*7}}')</script><!-- &lt;b&gt; {% raw %} \" onmouseover=",
    "مرحبا hello שלום",
    "e\u0301 is not \u00e9",
    f"{BOS} in the text {BOS}{BOS}",
    "<|endoftext|><s></s>",
    "\x01\x7f\x85",
)
TOKENIZER = train_tokenizer(PROSE, 400)
TABLE = token_bytes(TOKENIZER)


def back(ids: list[int], table: list[bytes] = TABLE) -> str:
    return b"".join(table[number] for number in ids).decode()


def ids_of(text: str) -> list[int]:
    return encode_texts([text], TOKENIZER, "test").tokens.tolist()


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_comes_back(text: str) -> None:
    assert back(ids_of(text)) == text


@pytest.mark.parametrize("text", ODD)
def test_odd_text_comes_back_and_never_holds_bos(text: str) -> None:
    ids = ids_of(text)
    assert back(ids) == text
    assert bos_id(TOKENIZER) not in ids


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=6))
def test_documents_together_give_the_tokens_of_each_alone(texts: list[str]) -> None:
    together = encode_texts(texts, TOKENIZER, "test")
    assert together.tokens.tolist() == [number for text in texts for number in ids_of(text)]
    assert together.lengths.tolist() == [len(ids_of(text)) for text in texts]


def test_bos_is_the_only_special_and_counts_in_the_size() -> None:
    assert bos_id(TOKENIZER) == 0
    assert vocab_size(TOKENIZER) == 400
    assert [number for number, content in enumerate(TABLE) if not content] == [0]


def test_offsets_bound_each_token() -> None:
    flat, offsets = flatten(TABLE)
    assert [flat[a:b].tobytes() for a, b in pairwise(offsets)] == TABLE


def test_two_trainings_are_the_same_tokenizer() -> None:
    again = train_tokenizer(PROSE, 400)
    assert again.to_str() == TOKENIZER.to_str()
    assert digest(again) == digest(TOKENIZER)
    assert digest(train_tokenizer(PROSE, 399)) != digest(TOKENIZER)


def test_a_saved_tokenizer_treats_bos_in_a_text_as_text(tmp_path: Path) -> None:
    TOKENIZER.save(str(tmp_path / "tokenizer.json"))
    loaded = load_tokenizer(tmp_path / "tokenizer.json")
    assert digest(loaded) == digest(TOKENIZER)
    assert loaded.encode(BOS).ids == ids_of(BOS)


def test_a_tokenizer_without_bos_gets_an_id_after_its_last(tmp_path: Path) -> None:
    saved = json.loads(TOKENIZER.to_str())
    saved["added_tokens"] = []
    saved["model"]["vocab"] = {("Ā" * 9 if token == BOS else token): n for token, n in saved["model"]["vocab"].items()}
    (tmp_path / "tokenizer.json").write_text(json.dumps(saved), encoding="utf-8")
    loaded = load_tokenizer(tmp_path / "tokenizer.json")
    assert bos_id(loaded) == 400
    assert vocab_size(loaded) == 401


def test_a_token_learned_from_text_is_not_taken_for_bos(tmp_path: Path) -> None:
    """HTML has <s> for struck text; a vocabulary that learned it has another BOS, and says it in the text."""
    learned = Tokenizer(models.BPE())
    learned.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<|endoftext|>"]
    trainer = BpeTrainer(vocab_size=260, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    learned.train_from_iterator(["<s>"] * 9, trainer)
    learned.save(str(tmp_path / "tokenizer.json"))
    loaded = load_tokenizer(tmp_path / "tokenizer.json")
    assert loaded.token_to_id("<s>") is not None
    assert bos_id(loaded) == loaded.token_to_id("<|endoftext|>")
    assert back(loaded.encode("a<s>b").ids, token_bytes(loaded)) == "a<s>b"


def test_added_tokens_are_written_as_they_are(tmp_path: Path) -> None:
    text = "x\u00e9y \u0131 ab cd\u0101"
    copy = Tokenizer.from_str(TOKENIZER.to_str())
    copy.add_tokens(["\u00e9", "\u0131", "ab cd", "\u0101"])
    copy.save(str(tmp_path / "tokenizer.json"))
    loaded = load_tokenizer(tmp_path / "tokenizer.json")
    assert back(loaded.encode(text).ids, token_bytes(loaded)) == text


@pytest.mark.parametrize("vocabulary", [-1, 0, 256])
def test_too_small_a_vocabulary_is_refused(vocabulary: int) -> None:
    with pytest.raises(RunnerError, match=f"{vocabulary} cannot hold the 256 bytes"):
        train_tokenizer(PROSE, vocabulary)


def test_a_tokenizer_not_on_bytes_is_refused(tmp_path: Path) -> None:
    words = Tokenizer(models.WordLevel({"a": 0, "?": 1}, unk_token="?"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.save(str(tmp_path / "words.json"))
    with pytest.raises(RunnerError, match="does not work on bytes"):
        load_tokenizer(tmp_path / "words.json")


def test_a_tokenizer_that_changes_the_text_is_refused() -> None:
    lowering = Tokenizer.from_str(TOKENIZER.to_str())
    lowering.normalizer = normalizers.Lowercase()
    with pytest.raises(RunnerError, match="does not give back the text that begins 'My lord'"):
        encode_texts(["My lord"], lowering, "lowering.json")


@pytest.mark.parametrize("content", ["", "{}", "[1]", "not json"])
def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(RunnerError, match=r"is not a tokenizer\.json"):
        load_tokenizer(tmp_path / "tokenizer.json")


def test_the_public_solu_models_bos_goes_before_the_end_of_text_beside_it(tmp_path: Path) -> None:
    """Their tokenizer has several specials; `<|BOS|>`, id 1, is the one that stood before every row in training."""
    tokenizer = Tokenizer.from_str(TOKENIZER.to_str())
    tokenizer.add_special_tokens(["<|endoftext|>", "<|EOS|>", "<|BOS|>", "<|PAD|>"])
    renamed = tokenizer.to_str().replace(BOS, "<|EOT|>")
    (tmp_path / "tokenizer.json").write_text(renamed, encoding="utf-8")
    loaded = load_tokenizer(tmp_path / "tokenizer.json")
    assert loaded.token_to_id("<|BOS|>") == bos_id(loaded)
    assert token_bytes(loaded)[bos_id(loaded)] == b""
