"""Arrays that are written as they come, without knowing their length."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


class GrowingArray:
    """A one-dimensional .npy file whose header is put right at the end."""

    def __init__(self, file: BinaryIO, dtype: "np.dtype[Any]") -> None:
        self._file, self._dtype = file, dtype
        self.length = 0
        self._write_header()

    def append(self, values: NDArray[Any]) -> None:
        """Write the values, converted to the array's type, after those before."""
        self._file.write(np.ascontiguousarray(values, self._dtype).tobytes())
        self.length += len(values)

    def finish(self) -> None:
        self._file.seek(0)
        self._write_header()

    def _write_header(self) -> None:
        # NumPy leaves room in the header for the length to grow.
        description = np.lib.format.dtype_to_descr(self._dtype)
        fields = {"descr": description, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self._file, fields)


@contextmanager
def growing_array(path: Path, dtype: "np.dtype[Any]") -> Iterator[GrowingArray]:
    """A new .npy file to append to. It is finished only when the block ends well."""
    with path.open("wb") as file:
        array = GrowingArray(file, dtype)
        yield array
        array.finish()
