"""Training as a whole: fair between arms, and not to be lost by a kill."""

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model_runner import step as step_of_training
from model_runner.batches import pack, read_windows, windows_of_step
from model_runner.checkpoint import load_checkpoint
from model_runner.config import MLPName
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.evaluate import held_out_loss, held_out_stream
from model_runner.loss import BatchLoss
from model_runner.metrics import read_metrics
from model_runner.model import Transformer, new_model
from model_runner.optimizer import is_matrix, new_optimizer, rate_share
from model_runner.step import DIVERGED_NATS, refuse_divergence, update
from model_runner.train import train
from tests.model_runner.models import (
    MLPS,
    random_tokens,
    scrambled,
    small_config,
    small_corpus,
    small_training,
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("corpus") / "corpus")


class Killed(BaseException):
    """Stands for a kill between two steps, where nothing may clean up."""


def train_until_killed(corpus: Corpus, folder: Path, *, before: str, step: int = 1) -> None:
    """Train, and end as a kill would before the step's call of this function of the runner."""

    def die(*arguments: object) -> object:
        if len(read_metrics(folder)) < step - 1:
            return original(*arguments)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        module, name = before.rsplit(".", 1)
        original = getattr(sys.modules[module], name)
        patch.setattr(before, die)
        with pytest.raises(Killed):
            train(small_config(), small_training(), corpus, folder)


LINE = "model_runner.train.append_metrics"


def outcome(folder: Path) -> tuple[bytes, list[dict[str, object]]]:
    """Weights, and metrics without the clock's."""
    lines = [{**asdict(line), "tokens_per_second": None} for line in read_metrics(folder)]
    return (folder / "model.safetensors").read_bytes(), lines


# Fair between arms


def test_every_arm_reads_the_same_batches(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []

    def spy(loss: object, model: Transformer, optimizer: object, tokens: torch.Tensor, *rest: Any) -> object:
        read.append(tokens.numpy().tobytes())
        return original(loss, model, optimizer, tokens, *rest)  # type: ignore[arg-type]

    original = step_of_training.update
    monkeypatch.setattr(step_of_training, "update", spy)
    for mlp in MLPS:
        train(small_config(mlp), small_training(), corpus, tmp_path / mlp)
    arms = [read[n : n + 8] for n in range(0, 32, 8)]
    assert len(set(arms[0])) == 8
    assert all(arm == arms[0] for arm in arms)


def test_every_arm_has_one_loss_in_the_first_step(corpus: Corpus, tmp_path: Path) -> None:
    losses = set()
    for mlp in MLPS:
        train(small_config(mlp), small_training(tokens=64), corpus, tmp_path / mlp)
        losses.add(read_metrics(tmp_path / mlp)[0].loss)
    assert len(losses) == 1


@pytest.mark.parametrize("mlp", MLPS)
def test_training_learns(corpus: Corpus, tmp_path: Path, mlp: MLPName) -> None:
    config = small_training(tokens=64 * 150, embedding_rate=1e-2, validate_every=50)
    trained = train(small_config(mlp), config, corpus, tmp_path)
    metrics = read_metrics(tmp_path)
    assert metrics[0].loss == pytest.approx(math.log(384), abs=0.3)
    assert trained.train.loss < metrics[0].loss - 1
    assert trained.train.val_loss is not None
    assert trained.train.val_loss < metrics[0].loss - 1


def test_one_golden_step() -> None:
    """AdamW's first step moves a number by its rate, against the gradient's sign, after weight decay."""
    model = scrambled(small_config("gelu")).train()
    config = small_training(clip=1e9, weight_decay=0.1)
    optimizer = new_optimizer(model, config)
    for group in optimizer.param_groups:
        group["lr"] = 1e-3
    tokens_BT = random_tokens(model.config, 2, 17)
    logits_BTV = model(tokens_BT[:, :-1])
    loss = torch.nn.functional.cross_entropy(logits_BTV.flatten(0, 1), tokens_BT[:, 1:].flatten())
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    said, norm = update(BatchLoss(model, bf16=False), model, optimizer, tokens_BT, config)
    assert said == pytest.approx(loss.item(), rel=1e-6)
    assert norm == pytest.approx(math.sqrt(sum(float(g.pow(2).sum()) for g in gradients)), rel=1e-5)
    for (name, after), old, gradient in zip(model.named_parameters(), before, gradients, strict=True):
        decay = 0.1 if is_matrix(name, after) else 0.0
        expected = old * (1 - 1e-3 * decay) - 1e-3 * gradient / (gradient.abs() + 1e-8)
        clear = gradient.abs() > 1e-6
        torch.testing.assert_close(after[clear], expected[clear], atol=2e-6, rtol=0)


def test_which_tensors_are_matrices() -> None:
    model = new_model(small_config("solu_ln", layers=1), 0)
    names = [name for name, value in model.named_parameters() if is_matrix(name, value)]
    assert names == [f"blocks.0.{n}.weight" for n in ("attention.qkv", "attention.out", "mlp.up", "mlp.down")]


def test_the_rate_rises_then_falls() -> None:
    config = small_training(warmup_share=0.1, final_rate=0.1)
    shares = [rate_share(step, 100, config) for step in range(100)]
    assert shares[:10] == pytest.approx([n / 10 for n in range(1, 11)])
    assert max(shares) == shares[9] == shares[10] == 1.0
    assert shares[10:] == sorted(shares[10:], reverse=True)
    assert shares[-1] == pytest.approx(0.1, abs=1e-3)


def test_matrices_learn_slower_in_wider_models() -> None:
    peaks = [
        new_optimizer(new_model(small_config(width=width), 0), small_training()).param_groups for width in (16, 32)
    ]
    assert peaks[0][0]["peak"] == 2 * peaks[1][0]["peak"]
    assert peaks[0][1]["peak"] == peaks[1][1]["peak"]


# Held-out loss


def test_the_held_out_loss_is_the_mean_over_its_windows(corpus: Corpus) -> None:
    model = scrambled(small_config())
    stream = held_out_stream(corpus, model.config.context)
    tokens_BT = read_windows(stream, torch.arange(stream.windows).numpy())
    logits_BTV = model(tokens_BT[:, :-1])
    expected = torch.nn.functional.cross_entropy(logits_BTV.flatten(0, 1), tokens_BT[:, 1:].flatten()).item()
    assert held_out_loss(model, stream, stream.length) == pytest.approx(expected, rel=1e-6)
    assert held_out_loss(model, stream, 10**9) == held_out_loss(model, stream, stream.length)


def test_held_out_text_is_not_trained_on(corpus: Corpus) -> None:
    trained_on = set(pack(corpus, "train", 16, 0).sources_N.tolist())
    assert trained_on.isdisjoint(held_out_stream(corpus, 16).sources_N.tolist())


# Going on


@pytest.mark.parametrize("step", [1, 2, 3, 4, 6, 8])
def test_resumed_is_uninterrupted(corpus: Corpus, tmp_path: Path, step: int) -> None:
    train(small_config(), small_training(), corpus, tmp_path / "whole")
    train_until_killed(corpus, tmp_path / "killed", before=LINE, step=step)
    train(small_config(), small_training(), corpus, tmp_path / "killed")
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")


@pytest.mark.parametrize(
    "before",
    [
        *(f"model_runner.resume.{name}" for name in ("write_atomically", "file_digest", "write_json")),
        *(f"model_runner.checkpoint.{name}" for name in ("write_atomically", "file_digest", "write_json")),
    ],
)
def test_killed_while_something_is_written(corpus: Corpus, tmp_path: Path, before: str) -> None:
    train(small_config(), small_training(), corpus, tmp_path / "whole")
    for step in (1, 7):
        train_until_killed(corpus, tmp_path / "killed", before=before, step=step)
    train(small_config(), small_training(), corpus, tmp_path / "killed")
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")


def test_killed_before_it_could_tidy_up(corpus: Corpus, tmp_path: Path) -> None:
    train_until_killed(corpus, tmp_path, before="model_runner.train.forget_state")
    assert list(tmp_path.glob("resume*"))
    assert train(small_config(), small_training(), corpus, tmp_path).train.step == 8
    assert not list(tmp_path.glob("resume*"))


CHILD = """
import sys, torch
from pathlib import Path
from model_runner.corpus.store import open_corpus
from model_runner.train import train
from tests.model_runner.models import small_config, small_training
torch.set_num_threads(1)
config = small_training(tokens=64 * int(sys.argv[3]), checkpoint_every=3)
train(small_config(), config, open_corpus(Path(sys.argv[1])), Path(sys.argv[2]))
"""


def start(corpus: Corpus, folder: Path, steps: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", CHILD, str(corpus.folder), str(folder), str(steps)]
    return subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL)


def wait_for(what: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while not what():
        assert process.poll() is None, "the training ended before it could be killed"
        assert time.monotonic() < deadline, "the training did not get so far"
        time.sleep(0.002)


@pytest.mark.slow
def test_a_killed_process_goes_on_where_it_was(corpus: Corpus, tmp_path: Path) -> None:
    steps = 100
    for kill_after in (10, 40):
        with start(corpus, tmp_path / "killed", steps) as process:
            wait_for(lambda: len(read_metrics(tmp_path / "killed")) >= kill_after, process)  # noqa: B023
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert not (tmp_path / "killed" / "train.json").exists()
    for folder in ("killed", "whole"):
        with start(corpus, tmp_path / folder, steps) as process:
            assert process.wait(timeout=200) == 0
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")
    assert [line.step for line in read_metrics(tmp_path / "killed")] == list(range(1, steps + 1))


def test_a_finished_training_is_read_and_not_repeated(corpus: Corpus, tmp_path: Path) -> None:
    first = train(small_config(), small_training(), corpus, tmp_path)
    written = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    again = train(small_config(), small_training(), corpus, tmp_path)
    assert again.train == first.train
    assert {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == written
    assert set(written) == {"model.safetensors", "config.json", "train.json", "metrics.jsonl", "tokenizer.json"}


@pytest.mark.parametrize("finished", [True, False])
def test_a_changed_config_is_refused_and_nothing_lost(corpus: Corpus, tmp_path: Path, finished: bool) -> None:
    folder = tmp_path / "arm"
    if finished:
        train(small_config(), small_training(), corpus, folder)
    else:
        train_until_killed(corpus, folder, before=LINE, step=5)
    before = {file: file.read_bytes() for file in folder.iterdir()}
    for model, config, said in (
        (small_config("gelu"), small_training(), "begun with mlp 'solu_ln' and is now asked for 'gelu'"),
        (small_config(), small_training(learning_rate=0.5), "begun with learning_rate 0.002 and is now asked for 0.5"),
        (small_config(), small_training(seed=9), "begun with seed 0 and is now asked for 9"),
    ):
        with pytest.raises(RunnerError, match=said):
            train(model, config, corpus, folder)
    other = replace(corpus, info=replace(corpus.info, digest="another"))
    with pytest.raises(RunnerError, match="begun with corpus_digest"):
        train(small_config(), small_training(), other, folder)
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


def test_a_damaged_state_is_a_sentence_and_stays(corpus: Corpus, tmp_path: Path) -> None:
    train_until_killed(corpus, tmp_path, before=LINE, step=5)
    (state,) = tmp_path.glob("resume-*.safetensors")
    content = state.read_bytes()
    state.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(RunnerError, match=r"resume-4\.safetensors is damaged"):
        train(small_config(), small_training(), corpus, tmp_path)
    state.write_bytes(content)
    assert train(small_config(), small_training(), corpus, tmp_path).train.step == 8


STATE = '{"step": 1, "seconds": 1, "file": "x", "digest": "x", "identity": {}}'


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("resume.json", "{}", r"resume\.json does not say"),
        ("resume.json", "{", r"resume\.json is damaged"),
        ("resume.json", STATE.replace("1", '"x"', 1), r"says that step is 'x', which should be a valid integer"),
        (
            "resume.json",
            STATE.replace('"x"', '"resume-4.safetensors"', 1).replace("{}", "3"),
            r"says that identity is 3",
        ),
        ("metrics.jsonl", "", r"does not hold the 4 steps that were done"),
        ("metrics.jsonl", "{}\n", r"Line 1 of .*metrics\.jsonl is damaged"),
    ],
)
def test_damaged_records_are_a_sentence(corpus: Corpus, tmp_path: Path, file: str, content: str, said: str) -> None:
    train_until_killed(corpus, tmp_path, before=LINE, step=5)
    (tmp_path / file).write_text(content)
    with pytest.raises(RunnerError, match=said):
        train(small_config(), small_training(), corpus, tmp_path)


def test_a_folder_that_cannot_be_made_is_a_sentence(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(RunnerError, match="could not be made"):
        train(small_config(), small_training(), corpus, tmp_path / "file" / "arm")


# Diverging


@pytest.mark.parametrize(("loss", "norm"), [(math.nan, 1.0), (math.inf, 1.0), (3.0, math.nan), (9.0, 1.0)])
def test_divergence_is_a_sentence(loss: float, norm: float) -> None:
    with pytest.raises(RunnerError, match=r"The training has diverged: the loss is .* lower learning_rate"):
        refuse_divergence(loss, norm, vocab_size=384)


def test_a_loss_passes_up_to_the_bound() -> None:
    bound = math.log(384) + DIVERGED_NATS
    refuse_divergence(bound, 100.0, vocab_size=384)
    with pytest.raises(RunnerError, match="diverged"):
        refuse_divergence(math.nextafter(bound, math.inf), 100.0, vocab_size=384)


def test_diverging_keeps_the_last_state(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def poisoned(loss: object, model: Transformer, *rest: Any) -> object:
        if len(read_metrics(tmp_path)) == 5:
            with torch.no_grad():
                model.embed.weight[:] = math.nan
        return original(loss, model, *rest)  # type: ignore[arg-type]

    original = step_of_training.update
    with monkeypatch.context() as patch:
        patch.setattr(step_of_training, "update", poisoned)
        with pytest.raises(RunnerError, match="diverged"):
            train(small_config(), small_training(), corpus, tmp_path)
    assert train(small_config(), small_training(), corpus, tmp_path).train.step == 8
    assert all(math.isfinite(line.loss) for line in read_metrics(tmp_path))


def test_a_far_too_high_rate_stops(corpus: Corpus, tmp_path: Path) -> None:
    config = small_training(tokens=64 * 40, learning_rate=1e5, embedding_rate=1e5, clip=1e9)
    with pytest.raises(RunnerError, match="diverged"):
        train(small_config("gelu"), config, corpus, tmp_path)
    with pytest.raises(RunnerError, match="holds no finished checkpoint"):
        load_checkpoint(tmp_path)


def test_a_last_step_that_breaks_the_weights_finishes_nothing(corpus: Corpus, tmp_path: Path) -> None:
    config = small_training(tokens=64, learning_rate=1e30, embedding_rate=1e30)
    with pytest.raises(RunnerError, match="diverged: the held-out loss is nan after step 1"):
        train(small_config("gelu"), config, corpus, tmp_path)
    assert not (tmp_path / "train.json").exists()
    assert read_metrics(tmp_path) == []


def test_bfloat16_trains_too(corpus: Corpus, tmp_path: Path) -> None:
    rough = train(small_config(), small_training(bf16=True), corpus, tmp_path / "rough")
    exact = train(small_config(), small_training(), corpus, tmp_path / "exact")
    assert rough.train.loss == pytest.approx(exact.train.loss, abs=0.05)
    assert {value.dtype for value in rough.model.state_dict().values()} == {torch.float32}


def test_what_a_step_reads_is_what_its_number_says(corpus: Corpus) -> None:
    stream = pack(corpus, "train", 16, 0)
    windows = windows_of_step(stream, 7, 4)
    assert read_windows(stream, windows).shape == (4, 17)
