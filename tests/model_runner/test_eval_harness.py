"""lm-evaluation-harness run for real on a small checkpoint, against our own evaluation of the same text."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("lm_eval", reason="the extra [eval] is not installed")

from lm_eval.api.instance import Instance

from model_runner.checkpoint import save_checkpoint
from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.eval_harness.command import SHIPPED, TASKS, evaluate_tasks, lines
from model_runner.eval_harness.language_model import CheckpointLM, open_language_model
from model_runner.eval_harness.make_tasks import passages, sums
from model_runner.evaluation.document_losses import document_losses, first_documents
from model_runner.evaluation.evaluation import bits_per_byte
from model_runner.evaluation.windows import window_losses, windows_of
from tests.corpora import make_corpus
from tests.model_runner.models import record, scrambled, small_config
from tests.texts import CODE, PROSE


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    texts = [f"{n}. {PROSE[n % len(PROSE)]} {CODE[n % len(CODE)]}" for n in range(60)]
    return make_corpus(tmp_path_factory.mktemp("corpus") / "corpus", texts, shares={"heldout": 1.0})


@pytest.fixture(scope="module")
def folder(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arm")
    digests = {"corpus_digest": corpus.info.digest, "tokenizer_digest": corpus.info.tokenizer_digest}
    model = scrambled(small_config(vocab_size=corpus.info.vocab_size, context=64))
    save_checkpoint(folder, model, record(**digests))
    (folder / "tokenizer.json").write_bytes((corpus.folder / "tokenizer.json").read_bytes())
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> CheckpointLM:
    return open_language_model(folder)


def requests(kind: str, arguments: Sequence[tuple[object, ...]]) -> list[Instance]:
    return [Instance(kind, {}, one, index) for index, one in enumerate(arguments)]


def test_texts_have_the_loss_that_evaluate_gives_them(corpus: Corpus, model: CheckpointLM) -> None:
    documents = first_documents(corpus, "heldout", None)[:12]
    ours = document_losses(model.checkpoint.model, corpus, documents)
    assert ours["tokens"].max() > model.max_length, "some text is longer than one window"
    texts = [(corpus.text(int(document)),) for document in documents]
    rolling = model.loglikelihood_rolling(requests("loglikelihood_rolling", texts))
    np.testing.assert_allclose(-np.array(rolling), ours["nats"], rtol=1e-5)


def test_a_continuation_has_the_loss_of_its_tokens(corpus: Corpus, model: CheckpointLM) -> None:
    """What evaluate says of a whole text that fits into one window is the sum of its two parts."""
    text = corpus.text(0)[:80]
    # Tokens do not reach from one word into the next, so the parts have the tokens of the whole.
    cut = text.index(" ", 40)
    context, continuation = text[:cut], text[cut:]
    answers = model.loglikelihood(requests("loglikelihood", [("", context), (context, continuation), ("", text)]))
    tokens = model.tok_encode(text, add_special_tokens=False)
    [losses] = window_losses(model.checkpoint.model, windows_of(tokens, model.bos, model.max_length))
    assert answers[2][0] == pytest.approx(-float(losses.sum()), rel=1e-5)
    begun = len(model.tok_encode(context, add_special_tokens=False))
    assert answers[1][0] == pytest.approx(-float(losses[begun:].sum()), rel=1e-5)


@torch.no_grad()
def test_greedy_is_what_the_likeliest_tokens_say(model: CheckpointLM) -> None:
    context = "The king"
    said = model.generate_until(requests("generate_until", [(context, {"until": [], "max_gen_toks": 5})]))[0]
    tokens = model.tok_encode(context)
    for _ in range(5):
        tokens.append(int(model.checkpoint.model(torch.tensor([tokens]))[0, -1].argmax()))
    likeliest = tokens[-5:]
    assert said == model.tok_decode(likeliest[: likeliest.index(model.bos)] if model.bos in likeliest else likeliest)
    encoded = [(("", ""), tokens[:-5], likeliest), (("", ""), tokens[:-5], [*likeliest[:-1], likeliest[-1] ^ 1])]
    assert [greedy for _, greedy in model._loglikelihood_tokens(encoded)] == [True, False]


def test_an_answer_ends_before_a_stop(model: CheckpointLM) -> None:
    asked = {"until": [], "max_gen_toks": 12}
    free = model.generate_until(requests("generate_until", [("Once", asked)]))[0]
    stop = free[3]
    stopped = model.generate_until(requests("generate_until", [("Once", {**asked, "until": [stop]})]))[0]
    assert stopped == free[: free.index(stop)]
    with pytest.raises(RunnerError, match="asks for drawn answers"):
        model.generate_until(requests("generate_until", [("Once", {"do_sample": True, "temperature": 0.7})]))


def test_a_context_that_is_too_long_loses_its_beginning(model: CheckpointLM) -> None:
    long, short = list(range(1, 120)), list(range(57, 120))
    # 64 tokens are read to predict two: 63 of the context and the first of the continuation.
    answers = model._loglikelihood_tokens([(("", ""), long, [5, 6]), (("", ""), short, [5, 6])])
    assert answers[0][0] == pytest.approx(answers[1][0], rel=1e-5)
    with pytest.raises(RunnerError, match="a continuation of 65 tokens; the model reads 64"):
        model._loglikelihood_tokens([(("", ""), [0], list(range(65)))])


def test_the_shipped_tasks_run(
    folder: Path, model: CheckpointLM, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["eval-harness", "--checkpoint", str(folder), "--limit", "6", "--out", str(tmp_path / "new/results.json")]
    assert main(asked) == 0
    said = capsys.readouterr().out.splitlines()
    results = json.loads((tmp_path / "new/results.json").read_text())
    assert json.loads(said[-1]) == results
    assert set(results) == set(SHIPPED)
    texts = [json.loads(line)["text"] for line in (TASKS / "last_word.jsonl").read_text().splitlines()[:6]]
    # Bits per byte and perplexity of the harness, from our own losses of the same passages.
    losses = [
        sum(float(one.sum()) for one in window_losses(model.checkpoint.model, windows_of(tokens, model.bos, 64)))
        for tokens in (model.tok_encode(text, add_special_tokens=False) for text in texts)
    ]
    expected = sum(losses) / math.log(2) / sum(len(text.encode()) for text in texts)
    assert results["glance_passages"]["bits_per_byte,none"] == pytest.approx(expected, rel=1e-5)
    parts = [text.rpartition(" ") for text in texts]
    last = model.loglikelihood(requests("loglikelihood", [(context, " " + word) for context, _, word in parts]))
    assert results["glance_last_word"]["perplexity,none"] == pytest.approx(
        math.exp(-np.mean([nats for nats, _ in last])), rel=1e-4
    )
    assert any(line.startswith("glance_last_word: acc ") and " ± " in line for line in said)


def test_bits_per_byte_is_evaluates(corpus: Corpus, model: CheckpointLM) -> None:
    rows = document_losses(model.checkpoint.model, corpus, first_documents(corpus, "heldout", None)[:5])
    texts = [(corpus.text(int(document)),) for document in rows["document"]]
    rolling = model.loglikelihood_rolling(requests("loglikelihood_rolling", texts))
    theirs = -sum(rolling) / math.log(2) / sum(len(text.encode()) for (text,) in texts)
    assert bits_per_byte(rows).value == pytest.approx(theirs, rel=1e-5)


@pytest.mark.slow
def test_the_harness_knows_the_papers_tasks_and_no_others(folder: Path) -> None:
    """Of all that is asked for, the first name that the harness does not know is the one that does not exist."""
    with pytest.raises(RunnerError, match="The harness has no task 'lambda'"):
        evaluate_tasks(folder, ["paper", "shipped", "lambda"], 1, None)


@pytest.mark.parametrize(
    ("option", "value"), [("--limit", "0"), ("--limit", str(10**30)), ("--fewshot", "-1"), ("--fewshot", "65")]
)
def test_numbers_that_make_no_sense_are_refused(
    folder: Path, option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval-harness", "--checkpoint", str(folder), option, value]) == 2
    assert f"{option} is {int(value):,}; it must be at" in capsys.readouterr().err


def test_another_tokenizer_is_refused(folder: Path, tmp_path: Path) -> None:
    for name in ("model.safetensors", "config.json", "train.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    make_corpus(tmp_path / "other", [*PROSE, "another text"] * 3, vocabulary=300)
    (tmp_path / "tokenizer.json").write_bytes((tmp_path / "other" / "tokenizer.json").read_bytes())
    with pytest.raises(RunnerError, match="is not the tokenizer that the model was trained with"):
        open_language_model(tmp_path)


def test_lines_leave_out_what_is_no_number() -> None:
    results = {
        "a": {"acc,none": 0.5, "acc_stderr,none": 0.1, "alias": "a"},
        "b": {"bpb,none": 2.0, "bpb_stderr,none": "N/A"},
    }
    assert lines(results) == ["a: acc 0.5000 ± 0.1000", "b: bpb 2.0000"]


def test_questions_are_made_alike(tmp_path: Path) -> None:
    assert sums(3) == sums(3) != sums(4)
    for sum_ in sums(0):
        one, sign, other = sum_["context"].removeprefix("Question: What is ").split("?")[0].split(" ")
        value = int(one) + int(other) if sign == "plus" else int(one) - int(other)
        assert sum_["completion"] == f" {value}"
    shipped = [json.loads(line) for line in (TASKS / "arithmetic.jsonl").read_text().splitlines()]
    assert shipped == sums(0)
    words = " ".join(f"word{n}" for n in range(40))
    text = f"Their kingdom lies {words} far from every kingdom and so on {words}"
    found = make_corpus(tmp_path / "plays", [(text, "plays"), (f"{words} {words}", "python")], shares={"heldout": 1.0})
    with pytest.raises(RunnerError, match="has no part 'scripture'"):
        list(passages(found))
    both = [(text, "plays"), (f"{words} {words}", "scripture")]
    found = make_corpus(tmp_path / "both", both, shares={"heldout": 1.0})
    assert list(passages(found)) == [text[: text.rindex("kingdom") + len("kingdom")]]


def test_data_that_cannot_be_had_are_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("Couldn't reach\n 'lambada_openai' on the Hub")

    monkeypatch.setattr("lm_eval.simple_evaluate", unreachable)
    with pytest.raises(RunnerError, match="could not be had: Couldn't reach 'lambada_openai' on the Hub"):
        evaluate_tasks(folder, ["shipped"], None, None)
