"""A folder that appears under its name only when it is complete."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from model_runner.corpus.names import INFO
from model_runner.errors import RunnerError
from model_runner.files import make_folder


@contextmanager
def appearing(out: Path, replace: bool) -> Iterator[Path]:
    """A hidden folder beside `out` to build in, renamed to `out` when the block ends well, else removed.

    Killed in the middle, it leaves the hidden folder, which the next build clears. Raises RunnerError when
    `out` is there (and is not a corpus to replace), when another build of it is under way, and when it cannot be
    written: the disk is full, or the folder is read-only.
    """
    with _written_or_said(out):
        make_folder(out.parent)
        with _only_builder(out.parent / f".{out.name}.lock", out):
            _put_back(out)
            _refuse_to_overwrite(out, replace)
            yield from _built(out)


def _built(out: Path) -> Iterator[Path]:
    unfinished = out.parent / f".{out.name}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        yield unfinished
        _put_in_place(unfinished, out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _written_or_said(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise RunnerError(
            f"{out} could not be built: {error.strerror or error}{where}. Nothing is left of it, and what was there "
            "before is kept. Make room or choose another --out, and run it again."
        ) from error


def _refuse_to_overwrite(out: Path, replace: bool) -> None:
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not (out / INFO).is_file():
        raise RunnerError(f"{out} exists and is not a corpus, so it is left alone. Choose another --out.")
    if not replace:
        raise RunnerError(f"{out} is a corpus already. Add --replace to build it again, or choose another --out.")


@contextmanager
def _only_builder(lock: Path, out: Path) -> Iterator[None]:
    with _held(lock, out):
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _held(lock: Path, out: Path) -> TextIO:
    """The file of this name, open and locked.

    One that was removed between opening and locking, by a builder that ended just then, holds nobody off.
    """
    while True:
        file = lock.open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise RunnerError(f"Another build of {out} is under way. Wait for it or choose another --out.") from error
        if _is_named(file, lock):
            return file
        file.close()


def _is_named(file: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _put_back(out: Path) -> None:
    """The corpus that a build was about to replace when it was killed between two renames."""
    if _old(out).exists() and not out.exists():
        _old(out).rename(out)


def _old(out: Path) -> Path:
    return out.parent / f".{out.name}.old"


def _put_in_place(unfinished: Path, out: Path) -> None:
    old = _old(out)
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.rename(old)
    unfinished.rename(out)
    shutil.rmtree(old, ignore_errors=True)
