"""One pass over the blocks of a corpus, the bare forward and the collection in turns of some blocks each.

The bare forward gets all that collecting has: blocks of the same shape, made beforehand, and as many one-thread
workers. A second bare forward, one block after another on all threads, is timed beside it for comparison.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import torch

from model_runner.blocks import one_thread_a_block, read_blocks
from model_runner.collect import taking
from model_runner.collect_config import CollectSettings
from model_runner.contexts import Block, Contexts
from model_runner.group import Group, new_groups, settle_groups
from model_runner.model import Transformer

KEPT, TURN = 20, 48


@dataclass
class Seconds:
    bare: float = 0.0
    collecting: float = 0.0
    bare_in_a_row: float = 0.0
    """Only of every fourth turn, and so in proportion."""
    turns: list[float] = field(default_factory=list)
    """The ratio of each turn."""

    @property
    def ratio(self) -> float:
        return self.collecting / self.bare


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


def timed_pass(model: Transformer, contexts: Contexts, complete: bool = False) -> Seconds:
    """All of them, over all blocks. Who goes first changes, since the second finds the tokens in the cache."""
    groups = new_groups(model, model.config.hidden, settings_for(contexts, complete))
    seconds, rows = Seconds(), 0.0
    for turn, first in enumerate(range(0, contexts.blocks, TURN)):
        numbers = range(first, min(first + TURN, contexts.blocks))
        blocks = [contexts.block(number) for number in numbers]
        bare = bare_seconds(model, blocks) if turn % 2 else 0.0
        collecting = _collecting_seconds(model, contexts, numbers, groups)
        bare = bare or bare_seconds(model, blocks)
        if turn % 4 == 0:
            rows += bare
            seconds.bare_in_a_row += _bare_seconds_in_a_row(model, blocks)
        seconds.bare, seconds.collecting = seconds.bare + bare, seconds.collecting + collecting
        seconds.turns.append(collecting / bare)
    started = time.perf_counter()
    settle_groups(groups, -1)
    seconds.collecting += time.perf_counter() - started
    seconds.bare_in_a_row *= seconds.bare / rows
    return seconds


def bare_seconds(model: Transformer, blocks: list[Block]) -> float:
    started = time.perf_counter()
    workers = torch.get_num_threads()
    with one_thread_a_block(), ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(lambda block: _forward(model, block), blocks):
            pass
    return time.perf_counter() - started


def _bare_seconds_in_a_row(model: Transformer, blocks: list[Block]) -> float:
    started = time.perf_counter()
    for block in blocks:
        _forward(model, block)
    return time.perf_counter() - started


@torch.inference_mode()
def _forward(model: Transformer, block: Block) -> None:
    for _ in model.activations(torch.from_numpy(block.tokens_BT)):
        pass


def _collecting_seconds(model: Transformer, contexts: Contexts, numbers: range, groups: list[Group]) -> float:
    started = time.perf_counter()
    take = taking(model, groups, contexts.corpus)
    for _ in read_blocks(model, contexts, numbers, take, is_due=lambda: False):
        pass
    return time.perf_counter() - started
