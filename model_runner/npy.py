"""Single arrays in .npy files. NumPy only, so that the web application can import it."""

from pathlib import Path
from threading import Lock
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ONE_HEADER = Lock()
"""NumPy reads a header with Python's parser. In Python 3.11 that fails (SystemError) where a garbage collection lets
another thread into it, so one thread at a time."""


def read_array(path: Path) -> NDArray[Any]:
    """The array of a file, memory-mapped for reading, as a plain array: slicing np.memmap costs ten times as much.

    Raises OSError when the file cannot be read, and ValueError when it is not a whole .npy file of plain numbers.
    """
    try:
        with _ONE_HEADER:
            mapped = np.lib.format.open_memmap(path, mode="r")
    except (SyntaxError, TokenError, TypeError, EOFError) as error:
        # NumPy reads a header with Python's parser and lets through what that raises.
        raise ValueError(f"its header is broken: {error}") from error
    plain: NDArray[Any] = mapped.view(np.ndarray)
    return plain
