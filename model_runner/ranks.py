"""Processes that train one model together, as torchrun starts them. A process alone is the first of one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed

from model_runner.errors import RunnerError

CPU = torch.device("cpu")
SET_BY_TORCHRUN = ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
"""Beside WORLD_SIZE."""


@dataclass(frozen=True)
class Ranks:
    """Which process this is, of how many, and where it computes."""

    rank: int = 0
    count: int = 1
    device: torch.device = CPU

    @property
    def first(self) -> bool:
        """Only the first rank writes and speaks."""
        return self.rank == 0

    def wait(self) -> None:
        """Until every rank is here."""
        if self.count > 1:
            distributed.barrier()

    def mean(self, value: Tensor) -> Tensor:
        """The mean over the ranks of a number that each has."""
        if self.count == 1:
            return value
        total = value.detach().clone()
        distributed.all_reduce(total)
        return total / self.count


ALONE = Ranks()


@contextmanager
def open_ranks(device: str) -> Iterator[Ranks]:
    """Join the other ranks where torchrun started several, over gloo on CPUs and NCCL on GPUs.

    On GPUs each rank takes the one that torchrun's LOCAL_RANK says. Raises RunnerError for a device that
    this machine does not have, and where the environment speaks of ranks that torchrun did not start.
    """
    count = _count()
    if count == 1:
        yield Ranks(device=usable(device))
        return
    own = usable("cpu" if device == "cpu" else f"cuda:{os.environ['LOCAL_RANK']}")
    distributed.init_process_group("gloo" if own.type == "cpu" else "nccl")
    try:
        yield Ranks(distributed.get_rank(), count, own)
    finally:
        distributed.destroy_process_group()


def _count() -> int:
    """How many ranks there are: one, unless the environment is torchrun's."""
    said = os.environ.get("WORLD_SIZE", "1")
    missing = [name for name in SET_BY_TORCHRUN if name not in os.environ]
    if said == "1" or (said.isdecimal() and int(said) > 1 and not missing):
        return int(said)
    lacking = f" without {', '.join(missing)}" if missing else ""
    raise RunnerError(
        f"WORLD_SIZE is {said!r} in the environment{lacking}. Start several processes with torchrun, or unset it."
    )


def usable(device: str) -> torch.device:
    """The device of a name such as cpu, cuda or cuda:1. Raises RunnerError when there is none."""
    try:
        found = torch.device(device)
    except RuntimeError as error:
        raise RunnerError(f"There is no kind of device {device!r}; give cpu, cuda or cuda:1.") from error
    if found.type == "cuda" and (found.index or 0) not in range(torch.cuda.device_count()):
        raise RunnerError(f"This machine has {torch.cuda.device_count()} CUDA devices, and {device} is none of them.")
    if found.type not in ("cpu", "cuda"):
        raise RunnerError(f"Models run on cpu and on cuda, not on {device}.")
    # Of processors there is one device, whatever number is given.
    return CPU if found.type == "cpu" else found
