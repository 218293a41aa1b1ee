"""Questions and answers in 28 languages, written as dialogue."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from zipfile import ZipFile

import yaml

from model_runner.corpus.documents import Document

LAYOUTS = (("- ", "- "), ("Q: ", "A: "), ("<user> ", "<bot> "), ("> ", ""), ("A. ", "B. "))
DIALOGUES = 8
CODES = {
    "bengali": "bn",
    "chinese": "zh",
    "dutch": "nl",
    "english": "en",
    "french": "fr",
    "german": "de",
    "hebrew": "he",
    "hindi": "hi",
    "hinglish": "hi-latn",
    "indonesian": "id",
    "italian": "it",
    "japanese": "ja",
    "korean": "ko",
    "marathi": "mr",
    "oriya": "or",
    "persian": "fa",
    "portuguese": "pt",
    "russian": "ru",
    "spanish": "es",
    "swedish": "sv",
    "tamil": "ta",
    "telugu": "te",
    "thai": "th",
    "traditionalchinese": "zh-hant",
    "turkish": "tr",
    "ukrainian": "uk",
    "urdu": "ur",
    "yoruba": "yo",
}


def chat(wheel: ZipFile) -> Iterator[Document]:
    """A document for eight conversations of one file, the layout changing from one to the next."""
    names = sorted(name for name in wheel.namelist() if name.endswith(".yml"))
    for number, name in enumerate(names):
        # BaseLoader makes nothing but strings, so that a "yes" stays a "yes".
        conversations = yaml.load(wheel.read(name).decode(), Loader=yaml.BaseLoader)["conversations"]  # noqa: S506
        language = CODES[PurePosixPath(name).parts[-2]]
        for start in range(0, len(conversations), DIALOGUES):
            layout = LAYOUTS[(number + start // DIALOGUES) % len(LAYOUTS)]
            lines = [_dialogue(turns, layout) for turns in conversations[start : start + DIALOGUES]]
            yield Document("\n\n".join(lines) + "\n", f"chat-{language}")


def _dialogue(turns: list[str], layout: tuple[str, str]) -> str:
    return "\n".join(layout[number % 2] + turn.strip() for number, turn in enumerate(turns))
