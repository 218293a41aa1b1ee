"""Train one arm: the same seed gives every arm the same shared weights and the same batches."""

# Shape suffixes: B windows of a batch, T tokens of a window, N tokens of a batch.
import dataclasses
import io
import math
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from model_runner.batches import Stream, pack, read_windows, windows_of_step
from model_runner.checkpoint import TRAIN, Checkpoint, TrainRecord, load_checkpoint, save_checkpoint
from model_runner.config import ModelConfig, TrainConfig, config_from
from model_runner.corpus.names import TOKENIZER
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.evaluate import held_out_loss, held_out_stream
from model_runner.files import make_folder, write_atomically
from model_runner.hold import hold
from model_runner.loss import BatchLoss
from model_runner.metrics import Metrics, append_metrics, forget_metrics_after, read_metrics, settle_metrics
from model_runner.model import Transformer, new_model
from model_runner.optimizer import new_optimizer, rate_share, set_rate
from model_runner.progress import Bar, progress
from model_runner.ranks import ALONE, Ranks, open_ranks
from model_runner.resume import (
    Identity,
    Machine,
    Reached,
    forget_state,
    going_on,
    load_state,
    refuse_change,
    save_state,
)

LOSS_STEPS = 50
"""The training loss of a checkpoint is the mean over this many last steps."""
DIVERGED_NATS = 2.0
"""A model this much worse than guessing every token alike has diverged."""


@dataclass(frozen=True)
class Training:
    """What stays the same from step to step."""

    model: Transformer
    batch_loss: nn.Module
    """The model's loss; its gradients are the mean over all ranks."""
    optimizer: torch.optim.AdamW
    config: TrainConfig
    stream: Stream
    held_out: Stream
    folder: Path
    identity: Identity
    ranks: Ranks
    compiled: bool

    @property
    def batch(self) -> int:
        """Windows in a step, those of all ranks together."""
        return max(1, self.config.batch_tokens // self.stream.context)

    @property
    def steps(self) -> int:
        return max(1, self.config.tokens // (self.batch * self.stream.context))


def train(
    model: ModelConfig, config: TrainConfig, corpus: Corpus, folder: Path, device: str = "cpu", compiled: bool = False
) -> Checkpoint:
    """Train a model on a corpus's train split, all parts, into a checkpoint folder.

    A folder that is begun is continued, bit for bit as if it had not been interrupted (on as many threads and
    ranks); one that is finished is read. Under torchrun the ranks share each step's windows, and the folder, which
    all must see. `compiled` lets torch.compile fuse the layers, which is worth its minute on a GPU.

    Raises RunnerError when the folder was begun with another config or corpus, when it is damaged, when the loss
    diverges, and for a device that is not there.
    """
    identity = identity_of(model, config, corpus)
    with open_ranks(device) as ranks:
        if not (folder / TRAIN).is_file():
            _train_to_the_end(begin(model, config, corpus, folder, identity, ranks, compiled), corpus)
        ranks.wait()
        checkpoint = load_checkpoint(folder)
        if checkpoint.train.swapped_from:
            raise RunnerError(
                f"{folder} holds weights that were trained in another form and swapped. Give another folder."
            )
        refuse_change(_identity_of_record(checkpoint), identity, folder)
        if ranks.first:
            forget_state(folder)
    return checkpoint


def identity_of(model: ModelConfig, config: TrainConfig, corpus: Corpus) -> Identity:
    """All that the trained weights depend on."""
    return {
        **dataclasses.asdict(model),
        **dataclasses.asdict(config),
        "corpus_digest": corpus.info.digest,
        "tokenizer_digest": corpus.info.tokenizer_digest,
    }


def _identity_of_record(checkpoint: Checkpoint) -> Identity:
    record = checkpoint.train
    digests = {"corpus_digest": record.corpus_digest, "tokenizer_digest": record.tokenizer_digest}
    # Read as a config, so that a setting younger than the record has its default.
    train = config_from(TrainConfig, record.train, TRAIN)
    return {**dataclasses.asdict(checkpoint.config), **dataclasses.asdict(train), **digests}


def begin(
    model: ModelConfig,
    config: TrainConfig,
    corpus: Corpus,
    folder: Path,
    identity: Identity,
    ranks: Ranks,
    compiled: bool = False,
) -> Training:
    """A training before its first step, in memory only.

    Raises RunnerError when the corpus is too small or the ranks cannot share a step's windows equally.
    """
    weights = new_model(model, config.seed).to(ranks.device)
    loss = BatchLoss(weights, config.bf16, compiled)
    training = Training(
        model=weights,
        batch_loss=loss if ranks.count == 1 else DistributedDataParallel(loss),
        optimizer=new_optimizer(weights, config),
        config=config,
        stream=pack(corpus, "train", model.context, config.seed),
        held_out=held_out_stream(corpus, model.context),
        folder=folder,
        identity=identity,
        ranks=ranks,
        compiled=compiled,
    )
    # Refuses at once, and not in the first step, a batch that the ranks cannot share.
    windows_of_step(training.stream, 0, training.batch, ranks.rank, ranks.count)
    return training


def _train_to_the_end(training: Training, corpus: Corpus) -> None:
    """Do what is left. Only the first rank writes."""
    folder, first = training.folder, training.ranks.first
    make_folder(folder)
    with hold(folder) if first else nullcontext():
        done = load_state(folder, training.model, training.optimizer, training.identity) or Reached()
        done, changed = going_on(done, machine_of(training.ranks, training.compiled))
        # Every rank has read what the first may now write over.
        training.ranks.wait()
        if first:
            forget_metrics_after(folder, done.step)
            sys.stderr.write(changed)
        done = _run(training, done)
        if first:
            # Beside the weights, so that text can be given to a checkpoint wherever it is taken.
            write_atomically(folder / TOKENIZER, (corpus.folder / TOKENIZER).read_bytes())
            save_checkpoint(folder, training.model, _record(training, done, corpus))


def machine_of(ranks: Ranks, compiled: bool) -> Machine:
    """What decides in which order numbers are added up."""
    return {
        "threads": torch.get_num_threads(),
        "ranks": ranks.count,
        "device": ranks.device.type,
        "compiled": compiled,
        "torch": torch.__version__,
    }


def _run(training: Training, done: Reached) -> Reached:
    """Do the steps that are left. The first rank keeps the record; the others only compute."""
    tokens = training.batch * training.stream.context
    with _bar(training, training.steps * tokens) as bar:
        bar.skip(done.step * tokens)
        while done.step < training.steps:
            started = time.monotonic()
            metrics = one_step(training, done.step, started)
            done = dataclasses.replace(done, step=done.step + 1, seconds=done.seconds + time.monotonic() - started)
            if training.ranks.first:
                append_metrics(training.folder, metrics)
                if _due(training, done.step, training.config.checkpoint_every):
                    settle_metrics(training.folder)
                    save_state(training.folder, training.model, training.optimizer, done, training.identity)
            bar.advance(tokens, note=_note(metrics))
    return done


def _bar(training: Training, total: int) -> AbstractContextManager[Bar]:
    what = f"Training {training.model.config.mlp}"
    if training.ranks.first:
        return progress(what, total, "tokens")
    return nullcontext(Bar(what, total, "tokens", io.StringIO()))


def one_step(training: Training, step: int, started: float) -> Metrics:
    """Read a step's windows, learn from them, and say what came of it. `started` is `time.monotonic()` before."""
    ranks = training.ranks
    windows = windows_of_step(training.stream, step, training.batch, ranks.rank, ranks.count)
    tokens_BT = read_windows(training.stream, windows).to(ranks.device)
    rate = set_rate(training.optimizer, rate_share(step, training.steps, training.config))
    loss, norm = update(training.batch_loss, training.model, training.optimizer, tokens_BT, training.config, ranks)
    seconds = time.monotonic() - started
    tokens = training.batch * training.stream.context
    return Metrics(
        step=step + 1,
        tokens=(step + 1) * tokens,
        loss=loss,
        val_loss=_validation(training, step + 1),
        learning_rate=rate,
        gradient_norm=norm,
        tokens_per_second=round(tokens / seconds, 1),
    )


def _validation(training: Training, step: int) -> float | None:
    """The held-out loss where it is due. Only the first rank reads it; the others wait for it in their next step."""
    if not training.ranks.first or not _due(training, step, training.config.validate_every):
        return None
    return held_out_loss(training.model, training.held_out, training.config.validation_tokens)


def update(
    batch_loss: nn.Module,
    model: Transformer,
    optimizer: torch.optim.AdamW,
    tokens_BT: Tensor,
    config: TrainConfig,
    ranks: Ranks = ALONE,
) -> tuple[float, float]:
    """One step of the optimizer, on tokens (windows, context + 1) of this rank.

    Returns the loss (nats a token) and the gradient's norm before clipping, both of all ranks together.
    Raises RunnerError, before any weight is touched, when either shows that the training has diverged.
    """
    loss = batch_loss(tokens_BT)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip)
    mean = ranks.mean(loss).item()
    refuse_divergence(mean, norm.item(), model.config.vocab_size)
    optimizer.step()
    optimizer.zero_grad()
    return mean, norm.item()


def refuse_divergence(loss: float, gradient_norm: float, vocab_size: int) -> None:
    """Raise RunnerError when a loss or a gradient shows that going on is pointless."""
    worst = math.log(vocab_size) + DIVERGED_NATS
    if not math.isfinite(loss) or not math.isfinite(gradient_norm) or loss > worst:
        raise RunnerError(
            f"The training has diverged: the loss is {loss:.3f} and the gradient's norm {gradient_norm:.3g}. "
            "The last saved state is kept. Train into another folder with a lower learning_rate."
        )


def _due(training: Training, step: int, every: int) -> bool:
    return step % every == 0 or step == training.steps


def _note(metrics: Metrics) -> str:
    return f"loss {metrics.loss:.3f}"


def _record(training: Training, done: Reached, corpus: Corpus) -> TrainRecord:
    metrics = read_metrics(training.folder)
    last = [one.loss for one in metrics[-LOSS_STEPS:]]
    return TrainRecord(
        step=done.step,
        tokens=metrics[-1].tokens,
        loss=sum(last) / len(last),
        val_loss=metrics[-1].val_loss,
        seed=training.config.seed,
        corpus_digest=corpus.info.digest,
        tokenizer_digest=corpus.info.tokenizer_digest,
        weights_digest="",
        seconds=round(done.seconds, 3),
        train=dataclasses.asdict(training.config),
        computed_on=list(done.computed_on),
    )
