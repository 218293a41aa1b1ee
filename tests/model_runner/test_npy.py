"""A damaged .npy file is a ValueError, whichever of NumPy's own ways it has of failing."""

import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from model_runner.evaluation.evaluation import DOCUMENT_LOSS
from model_runner.npy import read_array


@pytest.mark.parametrize("values", [np.arange(5), np.zeros(0, np.float32), np.zeros(3, DOCUMENT_LOSS), np.float64(3)])
def test_what_was_saved_is_read_as_a_plain_array(tmp_path: Path, values: np.ndarray) -> None:
    np.save(tmp_path / "some.npy", values)
    read = read_array(tmp_path / "some.npy")
    assert type(read) is np.ndarray
    assert read.dtype == values.dtype
    np.testing.assert_array_equal(read, values)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK",
        b"PK\3\4",
        b"PK\5\6" + bytes(18),  # an empty archive, which np.load opens
        b"\x80\4",
        b"\x93NUMPY",
        b"\x93NUMPY\1\0\6\0{'a': ",
        b"\x93NUMPY\1\0\4\0(00)",
        b"\x93NUMPY\1\0\7\0{1, 2}}",
    ],
)
def test_what_is_no_array_is_a_value_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "some.npy").write_bytes(content)
    with pytest.raises(ValueError):  # noqa: PT011 - the reasons are NumPy's
        read_array(tmp_path / "some.npy")


@pytest.mark.filterwarnings("ignore")
def test_whichever_byte_of_a_header_is_broken_nothing_else_is_raised(tmp_path: Path) -> None:
    np.save(tmp_path / "some.npy", np.arange(5))
    whole, drawn, refused = (tmp_path / "some.npy").read_bytes(), random.Random(0), 0
    for place in drawn.choices(range(128), k=300):
        byte = drawn.choice(b"\0\n'\"#(){}[]0:\\\xff")
        (tmp_path / "some.npy").write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        with suppress(ValueError):
            read_array(tmp_path / "some.npy")
            continue
        refused += 1
    assert refused > 100
