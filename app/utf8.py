"""UTF-8, whatever the locale says."""

import os
import sys


def insist_on_utf8() -> None:
    """Start this program again in Python's UTF-8 mode if its locale is another.

    Under LC_ALL=C and PYTHONUTF8=0 a name typed in a shell arrives as lone surrogates, which no database takes.
    """
    if sys.getfilesystemencoding() == "utf-8":
        return
    os.environ["PYTHONUTF8"] = "1"  # for the processes that this one starts
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  # this very program
