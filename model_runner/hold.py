"""A folder that one process writes at a time."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from model_runner.errors import RunnerError


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Keep others out for as long as this process lives; the system lets go when it is killed.

    Shared storage may have no locks; then that is said, and nobody is kept out. Raises RunnerError when another
    process is at work there, and when the folder cannot be opened.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise RunnerError(f"{folder} could not be opened: {error.strerror}. Give another folder.") from error
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
    except OSError as error:  # NFS locks no folder, and some systems lock nothing
        sys.stderr.write(
            f"{folder} lies where it cannot be locked ({error.strerror}): see that no other process writes into it.\n"
        )
