"""What `glance-runner train` and `swap` do."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from model_runner.architecture.config import find_config, read_config
from model_runner.architecture.swap import swap_checkpoint
from model_runner.checkpoint import load_checkpoint
from model_runner.corpus.store import open_corpus
from model_runner.errors import RunnerError
from model_runner.memory import keep_freed_memory
from model_runner.threads import use_threads
from model_runner.train.train import train
from model_runner.words import counted


def run_train(options: argparse.Namespace) -> None:
    """Train as the config and the options say, and say what came of it."""
    corpus = open_corpus(options.corpus)
    given = {
        "seed": options.seed,
        "tokens": options.tokens,
        "validate_every": options.validate_every,
        "bf16": options.bf16 or None,
    }
    model, config = read_config(
        find_config(options.config),
        {"mlp": options.mlp, "vocab_size": corpus.info.vocab_size},
        {name: value for name, value in given.items() if value is not None},
    )
    use_threads(options.threads)
    keep_freed_memory()
    with _compiler_or_said() if options.compile else nullcontext():
        record = train(model, config, corpus, options.out, options.device, options.compile).train
    if os.environ.get("RANK", "0") != "0":
        return
    speed = record.tokens / max(record.seconds, 1e-3)
    sys.stdout.write(
        f"{model.mlp}: {counted(model.layers, 'layer')} of {counted(model.hidden, 'neuron')} after "
        f"{counted(record.tokens, 'token')}, held-out loss {record.val_loss:.4f} nats a token, {speed:,.0f} tokens/s.\n"
        f"It is in {options.out}.\n"
    )


@contextmanager
def _compiler_or_said() -> Iterator[None]:
    """Raise RunnerError where torch.compile finds no compiler, or one that it cannot use."""
    # Loading it takes a second.
    from torch._dynamo.exc import BackendCompilerFailed

    try:
        yield
    except BackendCompilerFailed as error:
        said = str(error).partition("\n")[0]
        raise RunnerError(
            f"torch.compile fails here: {said} Install a C++ compiler, or leave --compile out."
        ) from error


def run_swap(options: argparse.Namespace) -> None:
    """Rewrite a checkpoint in its other form, and say what that did to its held-out loss."""
    before = load_checkpoint(options.checkpoint)
    after = swap_checkpoint(options.checkpoint, options.out, open_corpus(options.corpus))
    losses = [checkpoint.train.val_loss for checkpoint in (before, after)]
    said = ["unknown" if loss is None else f"{loss:.4f}" for loss in losses]
    sys.stdout.write(
        f"{before.config.mlp}, held-out loss {said[0]} nats a token, is now {after.config.mlp}, {said[1]}.\n"
        f"It is in {options.out}.\n"
    )
