"""One pass over the blocks of a corpus, the bare forward and the collection in turns of some blocks each.

The bare forward gets all that collecting has: blocks of the same shape, made beforehand, and as many one-thread
workers. A second bare forward, one block after another on all threads, is timed beside it for comparison.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks.outcome import Outcome
from model_runner.architecture.model import Transformer
from model_runner.collect.blocks import one_thread_a_block, read_blocks
from model_runner.collect.collect import taking
from model_runner.collect.config import BLOCK_TOKENS, CollectSettings
from model_runner.collect.contexts import Block, Contexts, cut_contexts, first_documents
from model_runner.collect.group import Group, new_groups, settle_groups
from model_runner.corpus.store import Corpus
from model_runner.subject import Reader

KEPT, WINDOW, TURN = 20, 256, 48

Last = Callable[[Any, Tensor], None]
"""What a bare forward computes of a batch of tokens."""


def some_contexts(corpus: Corpus, tokens: int) -> Contexts:
    """The first of the corpus, in blocks as collecting cuts them by default."""
    documents_N = first_documents(corpus, corpus.in_split("collect"), tokens)
    return cut_contexts(corpus, documents_N, WINDOW, BLOCK_TOKENS // WINDOW)


def read_activations(model: Reader, tokens_BT: Tensor) -> None:
    """Up to the last activation that collecting needs; no unembedding."""
    model.read(tokens_BT, lambda _, __: None)


def read_logits(model: Transformer, tokens_BT: Tensor) -> None:
    """To the very end."""
    model(tokens_BT)


class Seconds(NamedTuple):
    """On the clock, and of the processor: all threads together, whoever else takes the cores away."""

    clock: float
    processor: float

    def plus(self, other: "Seconds") -> "Seconds":
        return Seconds(self.clock + other.clock, self.processor + other.processor)


NOTHING = Seconds(0.0, 0.0)


@dataclass
class Pass:
    """What a pass took."""

    bare: Seconds = NOTHING
    collecting: Seconds = NOTHING
    turns: list[tuple[Seconds, Seconds]] = field(default_factory=list)
    """Bare and collecting, of each turn."""
    in_a_row: list[float] = field(default_factory=list)
    """How many times as long the bare forward took in a row, in every fourth turn."""

    @property
    def ratio(self) -> float:
        """On the clock, over the whole pass."""
        return self.collecting.clock / self.bare.clock

    @property
    def detail(self) -> dict[str, float]:
        return {
            "median_of_turns": round(statistics.median(mine.clock / bare.clock for bare, mine in self.turns), 4),
            "processor": round(self.collecting.processor / self.bare.processor, 4),
            "bare_in_a_row": round(statistics.median(self.in_a_row), 4),
        }


def outcome_of(name: str, target: float, corpus: Corpus, contexts: Contexts, rounds: Sequence[Pass]) -> Outcome:
    """The median ratio of several passes over the same contexts, with its figures."""
    ratio = statistics.median(each.ratio for each in rounds)
    tokens = int(corpus.documents["length"][contexts.documents_N].sum())
    detail = {
        "tokens": tokens,
        "bare_tokens_per_second": round(tokens / statistics.median(each.bare.clock for each in rounds)),
        "collected_tokens_per_second": round(tokens / statistics.median(each.collecting.clock for each in rounds)),
        "rounds": [{"ratio": round(each.ratio, 4), **each.detail} for each in rounds],
        "threads": torch.get_num_threads(),
    }
    return Outcome(name, round(ratio, 4), target, ratio <= target, detail)


def settings_for(contexts: Contexts, complete: bool) -> CollectSettings:
    return CollectSettings(
        checkpoint_digest="",
        corpus_digest="",
        split="collect",
        parts=(),
        kept=KEPT,
        window=contexts.window,
        tokens=None,
        block=contexts.rows,
        complete=complete,
        directions=0,
        directions_seed=0,
    )


def timed_pass(model: Transformer, contexts: Contexts, complete: bool = False, last: Last = read_activations) -> Pass:
    """All of them, over all blocks. Who goes first changes, since the second finds the tokens in the cache.

    `last` says how far the bare forward goes.
    """
    groups = new_groups(model, model.config.hidden, settings_for(contexts, complete))
    done = Pass()
    for turn, first in enumerate(range(0, contexts.blocks, TURN)):
        numbers = range(first, min(first + TURN, contexts.blocks))
        blocks = [contexts.block(number) for number in numbers]
        works = [lambda: bare_forward(model, blocks, last), lambda: _collect(model, contexts, numbers, groups)]  # noqa: B023
        bare, collecting = _both(works, turn % 2 == 0)
        done.bare, done.collecting = done.bare.plus(bare), done.collecting.plus(collecting)
        done.turns.append((bare, collecting))
        if turn % 4 == 0:
            done.in_a_row.append(timed(lambda: _bare_in_a_row(model, blocks, last)).clock / bare.clock)  # noqa: B023
    done.collecting = done.collecting.plus(timed(lambda: settle_groups(groups, -1)))
    return done


def _both(works: Sequence[Callable[[], None]], backwards: bool) -> list[Seconds]:
    """Time both, the second first when it is its turn."""
    taken = [timed(work) for work in (reversed(works) if backwards else works)]
    return taken[::-1] if backwards else taken


def timed(work: Callable[[], object]) -> Seconds:
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - clock, time.process_time() - processor)


def bare_seconds(model: Reader, blocks: Sequence[Block]) -> float:
    return timed(lambda: bare_forward(model, blocks)).clock


def collecting_seconds(model: Reader, contexts: Contexts, numbers: range, groups: Sequence[Group]) -> float:
    return timed(lambda: _collect(model, contexts, numbers, groups)).clock


def bare_forward(model: Reader, blocks: Sequence[Block], last: Last = read_activations) -> None:
    workers = torch.get_num_threads()
    with one_thread_a_block(), ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(lambda block: _forward(model, block, last), blocks):
            pass


def _bare_in_a_row(model: Reader, blocks: Sequence[Block], last: Last) -> None:
    for block in blocks:
        _forward(model, block, last)


@torch.inference_mode()
def _forward(model: Reader, block: Block, last: Last) -> None:
    last(model, torch.from_numpy(block.tokens_BT).to(model.device))


def _collect(model: Reader, contexts: Contexts, numbers: range, groups: Sequence[Group]) -> None:
    take = taking(model, groups, contexts.corpus)
    for _ in read_blocks(model, contexts, numbers, take, is_due=lambda: False):
        pass
