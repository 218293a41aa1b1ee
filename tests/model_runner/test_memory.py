"""Memory is taken from one pool of glibc's by all threads, once that was asked for."""

import platform
import re
import subprocess
import sys

import pytest

POOLS = """
import ctypes, sys, threading
from model_runner.memory import share_one_pool

if sys.argv[1] == "shared":
    assert share_one_pool()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fdopen.restype = ctypes.c_void_p
everybody = threading.Barrier(4)


def take():
    everybody.wait()
    assert libc.malloc(1000)


threads = [threading.Thread(target=take) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""
"""As the system itself counts them."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="there are no pools to share")
@pytest.mark.parametrize(("how", "one"), [("shared", True), ("as usual", False)])
def test_threads_share_a_pool_where_they_were_told_to(how: str, one: bool) -> None:
    said = subprocess.run([sys.executable, "-c", POOLS, how], check=True, capture_output=True, text=True).stdout
    assert (len(re.findall("<heap nr=", said)) == 1) is one
