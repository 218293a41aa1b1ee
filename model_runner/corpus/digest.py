"""What a corpus' digest stands for: every byte of its files."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from model_runner.corpus.info import CorpusInfo
from model_runner.corpus.names import CONTENT, INFO
from model_runner.errors import RunnerError
from model_runner.files import file_digest
from model_runner.progress import progress

QUICK_BYTES = 2 << 30
"""Files up to this size are compared whenever a corpus is opened; it takes a few seconds at most."""


def file_digests(folder: Path, advance: Callable[[int], None] = lambda _: None) -> dict[str, str]:
    """SHA-256 of each file of CONTENT, in hexadecimal; `advance` hears of the bytes that were read.

    Raises RunnerError where one cannot be read.
    """
    return {name: file_digest(folder / name, advance) for name in CONTENT}


def corpus_digest(files: Mapping[str, str], parts: Sequence[str], bos: int) -> str:
    """SHA-256 over the content, so that where the text came from and what it was called do not matter."""
    total = hashlib.sha256(json.dumps([parts, bos]).encode())
    for name in CONTENT:
        total.update(bytes.fromhex(files[name]))
    return total.hexdigest()


def refuse_quick_change(folder: Path, info: CorpusInfo) -> None:
    """Raise RunnerError where a file of at most QUICK_BYTES was changed after the corpus was built.

    A corpus with larger files that is older than the digests of single files is not looked at: see `check_corpus`.
    """
    sizes = {name: _size(folder / name) for name in CONTENT}
    if not info.files:
        if sum(sizes.values()) <= QUICK_BYTES:
            _refuse_change(folder, info, file_digests(folder))
        return
    quick = [name for name in CONTENT if sizes[name] <= QUICK_BYTES]
    _refuse_change(folder, info, {**info.files, **{name: file_digest(folder / name) for name in quick}})


def check_corpus(folder: Path, info: CorpusInfo) -> None:
    """Compare every byte with what corpus.json says, however long it takes. Raises RunnerError where one differs."""
    with progress("Checking", sum(_size(folder / name) for name in CONTENT), "bytes") as bar:
        _refuse_change(folder, info, file_digests(folder, bar.advance))


def _refuse_change(folder: Path, info: CorpusInfo, found: Mapping[str, str]) -> None:
    if info.files and info.files.keys() != set(CONTENT):
        raise _changed(folder / INFO)
    for name, digest in info.files.items():
        if found[name] != digest:
            raise _changed(folder / name)
    if corpus_digest(found, info.parts, info.bos) != info.digest:
        # An older corpus does not say of each file what it was; where it does, only corpus.json is left.
        raise _changed(folder / INFO if info.files else folder)


def _changed(what: Path) -> RunnerError:
    return RunnerError(
        f"{what} was changed after the corpus was built, so it would be other text than its digest says. "
        "Restore it from a copy, or build the corpus again."
    )


def _size(file: Path) -> int:
    """0 where it is missing: whoever reads it will say so."""
    return file.stat().st_size if file.is_file() else 0
