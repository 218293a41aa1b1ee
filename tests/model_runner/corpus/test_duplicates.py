import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_runner.corpus.chunks import chunk
from model_runner.corpus.duplicates import find_clusters
from model_runner.corpus.signatures import PERMUTATIONS, shingles, signatures
from tests.corpora import document_of, make_corpus
from tests.texts import PROSE

NOTICE = (
    "This notice must be kept with every copy of the work. The work is given as it is, without any promise that it "
    "is fit for a purpose, and those who wrote it answer for no loss that comes from its use, even when they had "
    "been told that such a loss might come. Whoever changes the work says so at its head and gives the date of it."
)
WORDS = [f"word{number}" for number in range(3_000)]


def sentence(generator: random.Random, words: int) -> str:
    return " ".join(generator.choices(WORDS, k=words)) + "."


def edited(generator: random.Random, text: str, edits: int) -> str:
    words = text.split(" ")
    for place in generator.sample(range(len(words)), edits):
        words[place] = generator.choice(WORDS)
    return " ".join(words)


def clusters_of(texts: list[str]) -> list[int]:
    words = [[word for _, found in chunk(text) for word in found] for text in texts]
    lengths = np.array([len(found) for found in words], np.int32)
    return find_clusters(signatures(words), np.arange(len(texts)), lengths).cluster.tolist()


@pytest.mark.parametrize(
    ("before", "after"), [(True, True), (True, False), (False, True)], ids=["middle", "end", "start"]
)
@pytest.mark.parametrize("edits", [0, 2, 5])
def test_boilerplate_in_200_documents_is_one_cluster(tmp_path: Path, edits: int, before: bool, after: bool) -> None:
    generator = random.Random(edits)
    documents = [
        "\n\n".join(
            [sentence(generator, 60)] * before
            + [edited(generator, NOTICE, edits)]
            + [sentence(generator, 40), sentence(generator, 9)] * after
        )
        for _ in range(200)
    ]
    corpus = make_corpus(tmp_path / "corpus", documents)
    sizes = Counter(corpus.chunks["cluster"].tolist())
    assert sizes.most_common(1)[0][1] == 200
    assert set(corpus.chunks["cluster_documents"].tolist()) == {1, 200}


def test_the_order_of_words_counts(tmp_path: Path) -> None:
    report = "Yesterday, it is said, a {} bites a {} near the old station, and the police were called to it."
    texts = ["dog bites man", "man bites dog", report.format("dog", "man"), report.format("man", "dog")]
    corpus = make_corpus(tmp_path / "corpus", texts)
    assert len(set(corpus.chunks["cluster"].tolist())) == 4


def test_different_paragraphs_are_apart() -> None:
    generator = random.Random(3)
    texts = [sentence(generator, 80) for _ in range(300)] + list(PROSE)
    assert clusters_of(texts) == list(range(len(texts)))


@pytest.mark.parametrize("change", [str.upper, lambda text: text.replace(" ", "\n"), lambda text: text + " (2nd ed.)"])
def test_capitals_line_ends_and_a_few_words_do_not_count(change: "object") -> None:
    assert callable(change)
    assert clusters_of([NOTICE, change(NOTICE), PROSE[0]]) == [0, 0, 1]


def test_what_has_no_words_is_alike_only_when_equal() -> None:
    texts = ["*** ***\n", "--- ---\n", "*** ***\n", "\n\n"]
    assert clusters_of(texts) == [0, 1, 0, 2]


def test_a_repetition_within_one_document_counts_one_document(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["\n\n".join([NOTICE] * 5)])
    assert corpus.chunks["cluster"].tolist() == [0] * 5
    assert corpus.chunks["cluster_documents"].tolist() == [1] * 5


def test_no_chunks_have_no_clusters() -> None:
    found = find_clusters(np.empty((0, PERMUTATIONS), np.uint32), np.empty(0, np.int64), np.empty(0, np.int32))
    assert found.cluster.tolist() == found.documents.tolist() == []


def test_signatures_estimate_the_shared_fraction() -> None:
    generator = np.random.default_rng(5)
    for shared in (200, 500, 800):
        common = generator.integers(1, 2**32, shared).tolist()
        one, other = ([*common, *generator.integers(1, 2**32, 1_000 - shared).tolist()] for _ in range(2))
        true = len(np.intersect1d(shingles(one), shingles(other))) / len(np.union1d(shingles(one), shingles(other)))
        left, right = signatures([one, other])
        # Four standard errors.
        assert abs((left == right).mean() - true) < 4 * (true * (1 - true) / PERMUTATIONS) ** 0.5


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab.! \n\t漢é{}1"), max_size=600))
def test_chunks_join_to_the_text(text: str) -> None:
    assert "".join(part for part, _ in chunk(text)) == text


def test_a_long_paragraph_without_a_full_stop_is_cut() -> None:
    generator = random.Random(7)
    shared = " ".join(generator.choices(WORDS, k=2_000))
    one, other = sentence(generator, 700) + shared, sentence(generator, 900) + shared
    same = {part for part, _ in chunk(one)} & {part for part, _ in chunk(other)}
    assert sum(map(len, same)) > 0.8 * len(shared)


def test_every_token_belongs_to_one_chunk(tmp_path: Path) -> None:
    texts = ["\n\n".join(PROSE), NOTICE, "漢字。仮名。\n\n\n\n  x", "a"]
    corpus = make_corpus(tmp_path / "corpus", texts)
    for text in texts:
        document = document_of(corpus, text)
        rows = corpus.document_chunks(document)
        assert rows["start"].tolist() == [0, *rows["end"].tolist()[:-1]]
        assert rows["end"][-1] == len(corpus.document_tokens(document)) == len(corpus.document_clusters(document))
