"""Our training, batches and record included, against a plain PyTorch loop of the same shapes, written here.

The plain loop is what one writes in an afternoon: the same layers, learned positions, all logits at once, a fused
AdamW, a clipped gradient, and batches that lie ready in memory. Neither side reads the held-out loss or saves.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.material import some_corpus
from benchmarks.outcome import Outcome
from benchmarks.training_turns import Step, in_turns, ratio_of, tokens_per_second
from model_runner.architecture.config import find_config, read_config
from model_runner.memory import keep_freed_memory
from model_runner.ranks import ALONE
from model_runner.train.batches import read_windows
from model_runner.train.metrics import append_metrics
from model_runner.train.step import one_step
from model_runner.train.training import Training, begin

NAME, TARGET = "train-vs-plain", 0.97
ROUNDS = 60
SHARES = {"train": 0.9, "heldout": 0.1}
NEVER = 1_000_000


class PlainBlock(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        parts = self.qkv(self.norm_1(x)).split(width, dim=-1)
        q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2) for part in parts)
        read = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(read.transpose(1, 2).reshape(batch, tokens, width))
        added: Tensor = x + self.mlp(self.norm_2(x))
        return added


class PlainModel(nn.Module):
    def __init__(self, vocabulary: int, context: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.embed, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(PlainBlock(width, heads) for _ in range(layers)))
        self.norm, self.unembed = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens) + self.positions.weight[: tokens.shape[1]]
        logits: Tensor = self.unembed(self.norm(self.blocks(x)))
        return logits


def measure() -> Outcome:
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as folder:
        training = _ours(Path(folder))
        taken = in_turns({"ours": _our_step(training), "plain": _plain_step(training)}, ROUNDS)
    ratio = ratio_of(taken, "plain", "ours")
    tokens = training.batch * training.stream.context
    detail = {
        "processor_ratio": round(ratio.processor, 4),
        "tokens_per_second": tokens_per_second(taken, tokens),
        "config": "demo",
        "rounds": ROUNDS,
        "threads": torch.get_num_threads(),
    }
    return Outcome(NAME, round(ratio.clock, 4), TARGET, ratio.clock >= TARGET, detail)


def _ours(folder: Path) -> Training:
    corpus = some_corpus(1_000_000, SHARES)
    wanted = {"mlp": "gelu", "vocab_size": corpus.info.vocab_size}
    model, config = read_config(find_config("demo"), wanted, {"validate_every": NEVER})
    return begin(model, config, corpus, folder, {}, ALONE)


def _our_step(training: Training) -> Step:
    def step(number: int) -> None:
        append_metrics(training.folder, one_step(training, number, time.monotonic()))

    return step


def _plain_step(training: Training) -> Step:
    shape = training.model.config
    torch.manual_seed(0)
    model = PlainModel(shape.vocab_size, shape.context, shape.width, shape.heads, shape.layers)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    batches = [_windows(training, number) for number in range(8)]

    def step(number: int) -> float:
        tokens = batches[number % len(batches)]
        logits = model(tokens[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return step


def _windows(training: Training, number: int) -> Tensor:
    first = number * training.batch % (training.stream.windows - training.batch)
    return read_windows(training.stream, np.arange(first, first + training.batch))
