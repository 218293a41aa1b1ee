import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from model_runner.architecture.model import Transformer
from model_runner.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.evaluation.document_losses import DOCUMENT_LOSS, document_losses, first_documents
from model_runner.evaluation.evaluation import bits_per_byte, evaluate, load_evaluation, save_evaluation
from model_runner.evaluation.ratio import ratio
from model_runner.evaluation.windows import window_losses, windows_of
from tests.model_runner.models import record, scrambled, small_config, small_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("corpus") / "corpus")


@pytest.fixture(scope="module")
def checkpoint(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    model = scrambled(small_config(vocab_size=corpus.info.vocab_size))
    digests = {"corpus_digest": corpus.info.digest, "tokenizer_digest": corpus.info.tokenizer_digest}
    return save_checkpoint(tmp_path_factory.mktemp("arm"), model, record(**digests))


@torch.no_grad()
def plain_losses(model: Transformer, tokens: list[int], bos: int) -> list[float]:
    """The loss of each token of a text, one at a time, from all logits: what the windows must amount to."""
    context = model.config.context
    text = [bos, *tokens]
    losses = []
    for place in range(1, len(text)):
        # The window that predicts this place ends where a whole number of contexts of predictions ends.
        last = min(math.ceil(place / context) * context, len(text) - 1)
        first = max(0, last - context)
        logits_TV = model(torch.tensor([text[first:place]]))[0]
        losses.append(-float(logits_TV[-1].log_softmax(-1)[text[place]]))
    return losses


def test_each_token_is_predicted_once_from_at_most_a_context() -> None:
    for length in range(1, 40):
        windows = windows_of(list(range(1, length + 1)), 0, 8)
        predicted = [token for window in windows for token in window.tokens[-window.predicted :]]
        assert predicted == list(range(1, length + 1))
        assert all(1 < len(window.tokens) <= 9 for window in windows)
        assert all(later == earlier + 1 for window in windows for earlier, later in pairwise(window.tokens))
        # Every window but a short text's only one has a whole context.
        assert length < 8 or all(len(window.tokens) == 9 for window in windows)


def test_documents_have_the_losses_of_their_tokens(corpus: Corpus, checkpoint: Checkpoint) -> None:
    documents = first_documents(corpus, "heldout", 200)
    rows = document_losses(checkpoint.model, corpus, documents)
    assert len(rows) > 2
    for row in rows:
        tokens = corpus.document_tokens(int(row["document"])).tolist()
        assert row["nats"] == pytest.approx(sum(plain_losses(checkpoint.model, tokens, corpus.info.bos)), rel=1e-5)
        assert row["tokens"] == len(tokens)
        assert row["bytes"] == len(corpus.text(int(row["document"])).encode())


def test_padding_and_company_change_nothing(corpus: Corpus, checkpoint: Checkpoint) -> None:
    windows = [windows_of(list(range(5, 5 + length)), corpus.info.bos, 16)[0] for length in (3, 15, 7, 1)]
    together = list(window_losses(checkpoint.model, windows))
    alone = [next(iter(window_losses(checkpoint.model, [window]))) for window in windows]
    assert [len(losses) for losses in together] == [3, 15, 7, 1]
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_the_first_documents_reach_the_tokens_asked_for(corpus: Corpus) -> None:
    every = first_documents(corpus, "heldout", None)
    lengths = corpus.documents["length"][every]
    assert first_documents(corpus, "heldout", 1).tolist() == every[:1].tolist()
    assert first_documents(corpus, "heldout", int(lengths[0])).tolist() == every[:1].tolist()
    assert first_documents(corpus, "heldout", int(lengths[0]) + 1).tolist() == every[:2].tolist()
    assert first_documents(corpus, "heldout", 10**9).tolist() == every.tolist()


def test_a_ratio_by_hand() -> None:
    # R = 12 / 6 = 2; residuals 0, 1, -1; sqrt(3 / 2 * 2) / 6.
    assert ratio(np.array([2.0, 5.0, 5.0]), np.array([1, 2, 3])) == pytest.approx((2.0, math.sqrt(3) / 6))
    with pytest.raises(RunnerError, match="A standard error needs 2 documents or more, and there are 1"):
        ratio(np.array([2.0]), np.array([1]))


def test_a_ratios_error_is_how_far_it_really_moves() -> None:
    rng = np.random.default_rng(0)

    def draw() -> tuple[float, float]:
        tokens = rng.geometric(1 / 200, 300)
        return ratio(tokens * rng.normal(4.0, 0.5, 300), tokens)

    values, errors = np.array([draw() for _ in range(1000)]).T
    assert values.mean() == pytest.approx(4.0, abs=0.005)
    assert errors.mean() == pytest.approx(values.std(), rel=0.08)


def test_bits_per_byte_of_a_uniform_guess() -> None:
    rows = np.array([(0, 8 * math.log(2), 3, 1), (1, 16 * math.log(2), 1, 2)], DOCUMENT_LOSS)
    assert bits_per_byte(rows) == pytest.approx((8.0, 0.0))


def test_what_cannot_be_kept_is_said_all_the_same(
    corpus: Corpus, checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_checkpoint(tmp_path, checkpoint.model, checkpoint.train)
    (tmp_path / "evaluation.npy.part").mkdir()
    assert main(["evaluate", "--checkpoint", str(tmp_path), "--corpus", str(corpus.folder), "--save"]) == 2
    said = capsys.readouterr()
    assert "evaluation.npy could not be written" in said.err
    assert json.loads(said.out.splitlines()[-1])["checkpoint_digest"] == checkpoint.digest


def test_evaluating_says_keeps_and_prints_the_same(
    corpus: Corpus, checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_checkpoint(tmp_path / "arm", checkpoint.model, checkpoint.train)
    asked = ["evaluate", "--checkpoint", str(tmp_path / "arm"), "--corpus", str(corpus.folder)]
    assert main(asked) == 0
    assert not (tmp_path / "arm" / "evaluation.json").exists()
    capsys.readouterr()
    assert main([*asked, "--save"]) == 0
    sentence, line = capsys.readouterr().out.splitlines()
    kept, rows = load_evaluation(tmp_path / "arm", checkpoint.digest)
    assert json.loads(line) == json.loads((tmp_path / "arm" / "evaluation.json").read_text())
    assert json.loads(line)["loss"] == kept.loss == pytest.approx(rows["nats"].sum() / rows["tokens"].sum())
    assert f"Held-out loss {kept.loss:.4f} ± {kept.loss_standard_error:.4f} nats a token" in sentence
    assert (kept.documents, kept.tokens) == (len(rows), rows["tokens"].sum())
    assert kept.bits_per_byte == pytest.approx(rows["nats"].sum() / math.log(2) / rows["bytes"].sum())


def test_what_is_kept_is_checked(corpus: Corpus, checkpoint: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match=r"is not evaluated yet\. Run `glance-runner evaluate"):
        load_evaluation(tmp_path, checkpoint.digest)
    with pytest.raises(RunnerError, match="--tokens is 0; it must be at least 1"):
        evaluate(checkpoint, corpus, 0)
    save_evaluation(tmp_path, *evaluate(checkpoint, corpus, 200))
    load_evaluation(tmp_path, checkpoint.digest)
    with pytest.raises(RunnerError, match="is of other weights"):
        load_evaluation(tmp_path, "other")
    whole = (tmp_path / "evaluation.npy").read_bytes()
    (tmp_path / "evaluation.npy").write_bytes(whole[:-5])
    with pytest.raises(RunnerError, match="is missing or cut short"):
        load_evaluation(tmp_path, checkpoint.digest)
    np.save(tmp_path / "evaluation.npy", np.zeros(99, DOCUMENT_LOSS))
    with pytest.raises(RunnerError, match="has 99 documents and not"):
        load_evaluation(tmp_path, checkpoint.digest)
    (tmp_path / "evaluation.json").write_text('{"format": 0}')
    with pytest.raises(RunnerError, match="is not of format 1"):
        load_evaluation(tmp_path, checkpoint.digest)


def test_another_tokenizer_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    model = scrambled(small_config(vocab_size=corpus.info.vocab_size))
    save_checkpoint(tmp_path, model, record())
    with pytest.raises(RunnerError, match="has another tokenizer"):
        evaluate(load_checkpoint(tmp_path), corpus, None)
