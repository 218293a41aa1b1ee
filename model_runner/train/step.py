"""One step of a training: windows in, weights moved, and what came of it."""

# Shape suffixes: B windows of a batch, T tokens of a window.
import math
import time

import torch
from torch import Tensor, nn

from model_runner.architecture.config import TrainConfig
from model_runner.architecture.model import Transformer
from model_runner.errors import RunnerError
from model_runner.evaluation.evaluate import held_out_loss
from model_runner.ranks import ALONE, Ranks
from model_runner.train.batches import read_windows, windows_of_step
from model_runner.train.metrics import Metrics
from model_runner.train.optimizer import rate_share, set_rate
from model_runner.train.training import Training, is_due

DIVERGED_NATS = 2.0
"""A model this much worse than guessing every token alike has diverged."""


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
    """The held-out loss where it is due. Only the first rank reads it; the others wait for it in their next step.

    Raises RunnerError where it is no number: a last step may have broken weights that no later loss would show.
    """
    if not training.ranks.first or not is_due(training, step, training.config.validate_every):
        return None
    loss = held_out_loss(training.model, training.held_out, training.config.validation_tokens)
    if not math.isfinite(loss):
        raise _diverged(f"the held-out loss is {loss} after step {step}")
    return loss


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
        raise _diverged(f"the loss is {loss:.3f} and the gradient's norm {gradient_norm:.3g}")


def _diverged(how: str) -> RunnerError:
    return RunnerError(
        f"The training has diverged: {how}. The last saved state is kept. "
        "Train into another folder with a lower learning_rate."
    )
