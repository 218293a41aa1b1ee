"""Plain text files."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from model_runner.corpus.cutting import cut
from model_runner.errors import RunnerError

BLOCK_BYTES = 1 << 20
AT_LEAST, AT_MOST = 16_000, 64_000


def read_txt(path: Path, field: str, part_field: str | None) -> Iterator[tuple[str, None]]:  # noqa: ARG001
    """The text of a file as one document, or as several of 16,000 to 64,000 characters cut at blank lines.

    Raises RunnerError, naming the line, for bytes that are not UTF-8 and for NUL, and for a file that is empty or not
    to be read.
    """
    kept = ""
    some = False
    for block in _decoded(path):
        # A block may be less than a character, and nothing has no pieces.
        *whole, kept = [*cut(kept + block, AT_LEAST, AT_MOST)] or [""]
        for text in whole:
            some = some or bool(text.strip())
            yield text, None
    if kept.strip():
        yield kept, None
    elif not some:
        raise RunnerError(f"{path} is empty. Remove it, or put text into it.")


def _decoded(path: Path) -> Iterator[str]:
    """The file's text in blocks of at most a megabyte."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = 1
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                _refuse_binary(path, block, lines)
                yield _decode(path, decoder, block, lines)
                lines += block.count(b"\n")
    except OSError as error:
        raise RunnerError(f"{path} cannot be read: {error.strerror}. Make it readable, or remove it.") from error
    _decode(path, decoder, b"", lines, final=True)


def _refuse_binary(path: Path, block: bytes, lines: int) -> None:
    nul = block.find(b"\0")
    if nul >= 0:
        line = lines + block.count(b"\n", 0, nul)
        raise RunnerError(f"{path}, line {line}: a NUL byte, so this is not text. Remove the file or convert it.")


def _decode(path: Path, decoder: codecs.IncrementalDecoder, block: bytes, lines: int, final: bool = False) -> str:
    try:
        return decoder.decode(block, final)
    except UnicodeDecodeError as error:
        # The decoder may have kept up to three bytes of the block before; none of them is a line end.
        line = lines + error.object.count(b"\n", 0, error.start)
        raise RunnerError(
            f"{path}, line {line}: byte 0x{error.object[error.start]:02x} is not UTF-8 ({error.reason}). "
            "Convert the file, for example with `iconv -f LATIN1 -t UTF-8`."
        ) from error
