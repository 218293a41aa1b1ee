"""One pass over the blocks of a corpus, the bare forward and the collection in turns."""

import time
from dataclasses import dataclass

import torch

from model_runner.collect import read_block
from model_runner.collect_config import CollectSettings
from model_runner.contexts import Block, Contexts
from model_runner.group import Group, new_groups, settle_groups
from model_runner.model import Transformer

KEPT = 20


@dataclass
class Seconds:
    bare: float = 0.0
    collecting: float = 0.0

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
    """Both, over all blocks. Who goes first changes, since the second finds the tokens in the cache."""
    groups = new_groups(model, model.config.hidden, settings_for(contexts, complete))
    seconds = Seconds()
    for number in range(contexts.blocks):
        if number % 2:
            seconds.bare += _timed_bare(model, contexts.block(number))
        seconds.collecting += _timed_collect(model, contexts, number, groups)
        if not number % 2:
            seconds.bare += _timed_bare(model, contexts.block(number))
    started = time.perf_counter()
    settle_groups(groups, -1)
    seconds.collecting += time.perf_counter() - started
    return seconds


@torch.inference_mode()
def _timed_bare(model: Transformer, block: Block) -> float:
    started = time.perf_counter()
    for _ in model.activations(torch.from_numpy(block.tokens_BT)):
        pass
    return time.perf_counter() - started


def _timed_collect(model: Transformer, contexts: Contexts, number: int, groups: list[Group]) -> float:
    started = time.perf_counter()
    block = contexts.block(number)
    read_block(model, block, groups, contexts.corpus)
    return time.perf_counter() - started
