"""How many threads compute."""

import torch

from model_runner.bounds import refuse_outside

MOST_THREADS = 1_024
"""Many more than a machine has end in a crash that nobody can catch."""


def use_threads(threads: int | None) -> None:
    """Compute on so many threads; None leaves it to torch, which takes every core."""
    refuse_outside("--threads", threads, 1, MOST_THREADS)
    if threads is not None:
        torch.set_num_threads(threads)
