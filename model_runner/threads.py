"""How many threads compute."""

import torch

from model_runner.errors import RunnerError

MOST_THREADS = 1_024
"""Many more than a machine has end in a crash that nobody can catch."""


def use_threads(threads: int | None) -> None:
    """Compute on so many threads; None leaves it to torch, which takes every core."""
    if threads is None:
        return
    if not 1 <= threads <= MOST_THREADS:
        raise RunnerError(f"--threads is {threads}; it must be from 1 to {MOST_THREADS:,}.")
    torch.set_num_threads(threads)
