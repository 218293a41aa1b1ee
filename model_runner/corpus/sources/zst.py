"""Zstandard files, whose library takes a file that is cut short for one that ends."""

from collections.abc import Iterator
from typing import BinaryIO

import zstandard

BLOCK_BYTES = 1 << 14


def zst_lines(raw: BinaryIO) -> Iterator[bytes]:
    """The lines of a compressed file of one or more frames, without their ends.

    Raises EOFError when the last frame is cut short, and ZstdError for what is not Zstandard.
    """
    pieces: list[bytes] = []
    for block in _decompressed(raw):
        first, *more = block.split(b"\n")
        pieces.append(first)
        if more:
            yield b"".join(pieces)
            yield from more[:-1]
            pieces = more[-1:]
    yield b"".join(pieces)


def _decompressed(raw: BinaryIO) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor()
    frame, within = decompressor.decompressobj(), False
    while block := raw.read(BLOCK_BYTES):
        while block:
            yield frame.decompress(block)
            block, within = frame.unused_data, not frame.eof
            if frame.eof:
                frame = decompressor.decompressobj()
    if within:
        raise EOFError("its last frame is cut short")
