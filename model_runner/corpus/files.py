"""The user's own text: .txt, .jsonl (also .gz and .zst) and .parquet, read as a stream."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from model_runner.corpus.documents import Document
from model_runner.corpus.info import Source
from model_runner.corpus.sources.jsonl import read_jsonl
from model_runner.corpus.sources.parquet import read_parquet
from model_runner.corpus.sources.txt import read_txt
from model_runner.errors import RunnerError
from model_runner.progress import progress

DEFAULT_PART = "text"
READERS: dict[str, Callable[[Path, str, str | None], Iterator[tuple[str, str | None]]]] = {
    ".txt": read_txt,
    ".jsonl": read_jsonl,
    ".jsonl.gz": read_jsonl,
    ".jsonl.zst": read_jsonl,
    ".parquet": read_parquet,
}


class Given(NamedTuple):
    """What the user gave."""

    path: Path
    field: str
    part_field: str | None
    """The field that tells the kind of a document. Without it, its folder does."""
    licence: str

    @property
    def name(self) -> str:
        """Its own, also where it was given as the folder that one is in."""
        return self.path.resolve().name


def given_documents(given: Given) -> Iterator[Document]:
    """The documents of a file or of all readable files of a folder, in the order of their names.

    Raises RunnerError, naming file and line or row, for what is not text.
    """
    files = _files(given.path)
    with progress("Reading", sum(path.stat().st_size for path in files), "bytes") as bar:
        for path in files:
            for text, part in _reader(path)(path, given.field, given.part_field):
                yield Document(text, part or _folder_part(path, given.path))
            bar.advance(path.stat().st_size, path.name)


def given_sources(given: Given, parts: list[str]) -> tuple[Source, ...]:
    """The one source: what the user gave, under the licence that the user said."""
    return (Source(name=given.name, version="as given", licence=given.licence, parts=tuple(parts)),)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise RunnerError(f"{path} does not exist. Give a file or a folder to --from.")
    files = [path] if path.is_file() else sorted(file for file in _below(path) if _suffix(file) in READERS)
    if not files:
        raise RunnerError(f"{path} has no file that ends in {', '.join(READERS)}. Give another folder to --from.")
    for file in files:
        _refuse_odd(file)
    return files


def _below(folder: Path) -> Iterator[Path]:
    """What lies in a folder and those under it, also through links; each folder once.

    Raises RunnerError for a folder that cannot be read: a corpus is not to lack it in silence.
    """
    seen: set[Path] = set()
    for at, folders, names in os.walk(folder, followlinks=True, onerror=_refuse_closed):
        folders.sort()
        real = Path(at).resolve()
        if real in seen:
            folders.clear()
        else:
            seen.add(real)
            yield from (Path(at, name) for name in names)


def _refuse_closed(error: OSError) -> NoReturn:
    raise RunnerError(
        f"The folder {error.filename} cannot be read: {error.strerror}. Make it readable, or remove it."
    ) from error


def _refuse_odd(file: Path) -> None:
    if not file.is_file():
        raise RunnerError(f"{file} is a link to nothing, or no file that can be read. Mend it or remove it.")
    try:
        str(file.resolve()).encode()
    except UnicodeEncodeError as error:
        raise RunnerError(f"The name {os.fsencode(file)!r} is not UTF-8. Rename it.") from error


def _reader(path: Path) -> Callable[[Path, str, str | None], Iterator[tuple[str, str | None]]]:
    reader = READERS.get(_suffix(path))
    if reader is None:
        raise RunnerError(f"{path} ends in none of {', '.join(READERS)}. Convert it, or give another file to --from.")
    return reader


def _suffix(path: Path) -> str:
    name = path.name.lower()
    return next((suffix for suffix in READERS if name.endswith(suffix)), "")


def _folder_part(path: Path, root: Path) -> str:
    """The name of the first folder under the root, where there is one."""
    below = path.relative_to(root).parts if root.is_dir() else ()
    return below[0] if len(below) > 1 else DEFAULT_PART
