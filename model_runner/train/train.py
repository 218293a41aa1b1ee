"""Train one arm: the same seed gives every arm the same shared weights and the same batches."""

import dataclasses
import io
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from model_runner.architecture.config import ModelConfig, TrainConfig, config_from
from model_runner.checkpoint import TRAIN, Checkpoint, TrainRecord, load_checkpoint, save_checkpoint
from model_runner.corpus.names import TOKENIZER
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.files import make_folder, write_atomically
from model_runner.hold import hold
from model_runner.occupied import refuse_occupied
from model_runner.progress import Bar, progress
from model_runner.ranks import open_ranks
from model_runner.train.metrics import Metrics, append_metrics, forget_metrics_after, read_metrics, settle_metrics
from model_runner.train.resume import (
    STATE,
    Identity,
    Reached,
    forget_state,
    going_on,
    load_state,
    refuse_change,
    save_state,
)
from model_runner.train.step import one_step
from model_runner.train.training import Training, begin, identity_of, is_due, machine_of

LOSS_STEPS = 50
"""The training loss of a checkpoint is the mean over this many last steps."""


def train(
    model: ModelConfig, config: TrainConfig, corpus: Corpus, folder: Path, device: str = "cpu", compiled: bool = False
) -> Checkpoint:
    """Train a model on a corpus's train split, all parts, into a checkpoint folder.

    A folder that is begun is continued, bit for bit as if it had not been interrupted (on as many threads and
    ranks); one that is finished is read. Under torchrun the ranks share each step's windows, and the folder, which
    all must see. `compiled` lets torch.compile fuse the layers, which is worth its minute on a GPU.

    Raises RunnerError when the folder was begun with another config or corpus, when it is damaged or holds something
    else, when the loss diverges, and for a device that is not there.
    """
    refuse_occupied(folder, TRAIN, STATE)
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


def _identity_of_record(checkpoint: Checkpoint) -> Identity:
    record = checkpoint.train
    digests = {"corpus_digest": record.corpus_digest, "tokenizer_digest": record.tokenizer_digest}
    # Read as a config, so that a setting younger than the record has its default.
    train = config_from(TrainConfig, record.train, TRAIN)
    return {**dataclasses.asdict(checkpoint.config), **dataclasses.asdict(train), **digests}


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
                if is_due(training, done.step, training.config.checkpoint_every):
                    settle_metrics(training.folder)
                    save_state(training.folder, training.model, training.optimizer, done, training.identity)
            bar.advance(tokens, note=_note(metrics))
    return done


def _bar(training: Training, total: int) -> AbstractContextManager[Bar]:
    what = f"Training {training.model.config.mlp}"
    if training.ranks.first:
        return progress(what, total, "tokens")
    return nullcontext(Bar(what, total, "tokens", io.StringIO()))


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
