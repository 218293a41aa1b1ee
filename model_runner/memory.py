"""What is freed is kept for the next step of training, and goes back to the system in a long pass of reading."""

import ctypes
import platform
from functools import cache

MMAP_THRESHOLD, TRIM_THRESHOLD, MOST_POOLS = -3, -1, -8
"""Names of glibc's mallopt(3)."""
LARGEST_KEPT_BYTES, KEPT_BYTES = 32 << 20, 1 << 30


def keep_freed_memory() -> bool:
    """Let glibc keep what is freed, for tensors of up to 32 MB each; False where there is no glibc.

    Otherwise each large tensor is asked from the system anew, which clears it page by page: in the demonstration's
    shape half of what SoLU + LN costs over GELU was this. No number that is computed depends on it.
    """
    if not _has_glibc():
        return False
    libc = ctypes.CDLL(None)
    return all((libc.mallopt(MMAP_THRESHOLD, LARGEST_KEPT_BYTES), libc.mallopt(TRIM_THRESHOLD, KEPT_BYTES)))


def share_one_pool() -> bool:
    """Let all threads that are still to come take memory from one pool; False where there is no glibc.

    Otherwise glibc gives each thread a pool, and what one has freed is of no use to the others: the longer a pass of
    reading takes, the more of them have been as full as they ever get. Tensors are large and few, so nobody queues.
    """
    return _has_glibc() and bool(ctypes.CDLL(None).mallopt(MOST_POOLS, 1))


def give_back_freed_memory() -> None:
    """Let glibc hand what lies free between its blocks back to the system; nothing happens where there is no glibc.

    Threads that free large tensors in turn leave holes, and without this the peak of a long pass creeps up.
    """
    if _has_glibc():
        ctypes.CDLL(None).malloc_trim(0)


@cache
def _has_glibc() -> bool:
    return platform.libc_ver()[0] == "glibc"
