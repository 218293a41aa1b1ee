"""What a training step frees is kept for the next step."""

import ctypes
import platform

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1
"""Names of glibc's mallopt(3)."""
LARGEST_KEPT_BYTES, KEPT_BYTES = 32 << 20, 1 << 30


def keep_freed_memory() -> bool:
    """Let glibc keep what is freed, for tensors of up to 32 MB each; False where there is no glibc.

    Otherwise each large tensor is asked from the system anew, which clears it page by page: in the demonstration's
    shape half of what SoLU + LN costs over GELU was this. No number that is computed depends on it.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    return all((libc.mallopt(MMAP_THRESHOLD, LARGEST_KEPT_BYTES), libc.mallopt(TRIM_THRESHOLD, KEPT_BYTES)))
