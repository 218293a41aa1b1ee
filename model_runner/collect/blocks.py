"""Blocks through a model, several at a time, and what is read of them taken in their order.

Each block is computed on one thread: the last bits of a matrix product can depend on how many threads share
it, and threads that each have a block of their own do not wait for one another at every product. So the
numbers are the same on any number of threads, and the pass is quicker.
"""

# Shape suffixes: B contexts of a block, T tokens of a context, F neurons of a layer.
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor

from model_runner.collect.contexts import Block, Contexts
from model_runner.collect.in_order import Turns
from model_runner.subject import Reader

Take = Callable[[int, Tensor, Block], None]
"""What is done with a layer's activations (contexts, tokens, neurons) of a block."""

AHEAD = 2
"""Blocks that are computed or wait to be taken, for each worker."""

DEVICE_WORKERS = 2
"""On an accelerator one block is computed there while another is taken here."""


def read_blocks(
    model: Reader, contexts: Contexts, numbers: range, take: Take, is_due: Callable[[], bool]
) -> Iterator[Block]:
    """Yield each block when all of it has been taken, in the order of their numbers.

    In each layer, `take` is called for one block after another, but a block's later layers may be taken after
    the next block's earlier ones. Once `is_due` answers yes, no other block is begun: the pass stops at a
    place from which it can go on. Raises whatever `take` raises.
    """
    turns = [Turns(numbers.start) for _ in model.norms]
    workers = torch.get_num_threads() if model.device.type == "cpu" else DEVICE_WORKERS
    begun: deque[Future[Block]] = deque()
    following = numbers.start
    with one_thread_a_block(), ThreadPoolExecutor(workers, "block") as pool:
        for number in numbers:
            begun.append(pool.submit(_read, model, contexts, number, take, turns))
            # As many may wait to be taken as are computed, so that a quick worker does not wait for a slow one.
            if len(begun) > AHEAD * workers:
                yield _taken(begun.popleft(), turns, following)
                following += 1
            if is_due():
                break
        while begun:
            yield _taken(begun.popleft(), turns, following)
            following += 1


def _taken(begun: Future[Block], turns: Sequence[Turns], number: int) -> Block:
    """The block, when all its layers have been taken."""
    for turn in turns:
        turn.wait_for(number)
    return begun.result()


def _read(model: Reader, contexts: Contexts, number: int, take: Take, turns: Sequence[Turns]) -> Block:
    try:
        block = contexts.block(number)
        with torch.inference_mode():
            tokens_BT = torch.from_numpy(block.tokens_BT).to(model.device)
            model.read(tokens_BT, lambda layer, acts: turns[layer].hand_in(number, partial(take, layer, acts, block)))
    except BaseException as failure:
        # Whoever waits for this block must hear that it will not come.
        for turn in turns:
            turn.abandon(failure)
        raise
    return block


@contextmanager
def one_thread_a_block() -> Iterator[None]:
    """Threads that are started inside compute alone; a product is not shared among them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
