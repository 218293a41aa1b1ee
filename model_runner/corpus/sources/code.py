"""Code and message catalogues from Django, C++ headers from pybind11, tables from vega-datasets."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from zipfile import ZipFile

from model_runner.corpus.cutting import cut
from model_runner.corpus.documents import Document

KINDS = {".py": "python", ".js": "javascript", ".css": "css", ".html": "html", ".h": "cpp", ".cmake": "cmake"}
CATALOGUE_PIECES = 3


def code(wheel: ZipFile) -> Iterator[Document]:
    """Files by suffix, without the minified ones, cut at blank lines into documents of 4 to 12 KB."""
    for name in sorted(wheel.namelist()):
        part = KINDS.get(PurePosixPath(name).suffix)
        if part and ".min." not in name:
            for text in cut(wheel.read(name).decode(), 4_000, 12_000):
                yield Document(text, part)


def catalogues(wheel: ZipFile) -> Iterator[Document]:
    """Up to three pieces of about 3 KB of each gettext catalogue, from all over it."""
    for name in sorted(wheel.namelist()):
        if name.endswith(".po"):
            language = PurePosixPath(name).parts[-3]
            texts = list(cut(wheel.read(name).decode(), 3_000, 4_500))
            for text in texts[:: -(-len(texts) // CATALOGUE_PIECES)]:
                yield Document(text, f"catalogues-{language}")


def django(wheel: ZipFile) -> Iterator[Document]:
    """Code and catalogues of Django."""
    yield from code(wheel)
    yield from catalogues(wheel)


def tables(wheel: ZipFile) -> Iterator[Document]:
    """CSV and JSON, cut at line ends."""
    for name in sorted(wheel.namelist()):
        if "/_data/" in name and name.endswith((".csv", ".json")):
            for text in cut(wheel.read(name).decode(), 3_000, 4_500):
                yield Document(text, "tables")
