"""One training: what it is made of before its first step, and all that its outcome depends on."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from model_runner.architecture.config import ModelConfig, TrainConfig
from model_runner.architecture.model import Transformer, new_model
from model_runner.corpus.store import Corpus
from model_runner.evaluation.evaluate import held_out_stream
from model_runner.ranks import Ranks
from model_runner.train.batches import Stream, pack, windows_of_step
from model_runner.train.loss import BatchLoss
from model_runner.train.optimizer import new_optimizer
from model_runner.train.resume import Identity, Machine


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


def identity_of(model: ModelConfig, config: TrainConfig, corpus: Corpus) -> Identity:
    """All that the trained weights depend on."""
    return {
        **dataclasses.asdict(model),
        **dataclasses.asdict(config),
        "corpus_digest": corpus.info.digest,
        "tokenizer_digest": corpus.info.tokenizer_digest,
    }


def machine_of(ranks: Ranks, compiled: bool) -> Machine:
    """What decides in which order numbers are added up."""
    return {
        "threads": torch.get_num_threads(),
        "ranks": ranks.count,
        "device": ranks.device.type,
        "compiled": compiled,
        "torch": torch.__version__,
    }


def is_due(training: Training, step: int, every: int) -> bool:
    """Whether something is done after this step that is done every so many, and after the last."""
    return step % every == 0 or step == training.steps
