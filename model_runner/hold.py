"""A folder that one process writes at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from model_runner.errors import RunnerError


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Keep others out for as long as this process lives; the system lets go when it is killed.

    Raises RunnerError when another process is at work there.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RunnerError(
            f"Another process is writing into {folder}. Wait for it, or end it: ranks may outlive a killed torchrun."
        ) from error
