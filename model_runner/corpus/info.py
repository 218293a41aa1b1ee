"""What a corpus folder says about itself in corpus.json."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from model_runner.errors import RunnerError

FORMAT = 1
SPLITS = ("train", "collect", "heldout", "practice", "check")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where text comes from and under which terms it may be shown."""

    name: str
    """A package of the index, or the file or folder that the user gave."""
    version: str
    licence: str
    """Of the text itself, as its publisher says."""
    parts: tuple[str, ...]
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class CorpusInfo:
    """The content of corpus.json."""

    name: str
    digest: str
    """SHA-256 over tokens, documents, chunks, part names and the tokenizer's digest."""
    tokenizer_digest: str
    """SHA-256 of tokenizer.json and the BOS id."""
    vocab_size: int
    """Ids that occur are below this; BOS is one of them."""
    bos: int
    """Id of the only special token. It may be 0."""
    parts: tuple[str, ...]
    """Names of the kinds of text; documents refer to them by place."""
    sources: tuple[Source, ...]
    shares: dict[str, float]
    """Of each split, by hash of the document's text."""
    documents: int
    tokens: int
    chunks: int
    counts: dict[str, dict[str, int]]
    """Tokens by split and part."""
    duplicates: dict[str, float]
    """The near-duplicate search's settings."""
    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each file; a corpus may be older than this field."""
    format: int = FORMAT


def write_info(path: Path, info: CorpusInfo) -> None:
    """Write corpus.json by rename, since a folder is complete only when it is there."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(
        json.dumps(asdict(info), indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
    )
    unfinished.replace(path)


def read_info(path: Path) -> CorpusInfo:
    """Read corpus.json.

    Raises RunnerError when it is missing, is not JSON, or has a format that this version does not know.
    """
    fields = _read_json(path)
    found = fields.get("format")
    if found != FORMAT:
        raise RunnerError(
            f"{path} has format {found!r} and this version reads format {FORMAT}. "
            "Build the corpus again, or use the version of glance that wrote it."
        )
    try:
        sources = tuple(Source(**{**source, "parts": tuple(source["parts"])}) for source in fields.pop("sources"))
        return CorpusInfo(**{**fields, "parts": tuple(fields["parts"]), "sources": sources})
    except (KeyError, TypeError) as error:
        raise RunnerError(f"{path} lacks a field or has one too many ({error}). Build the corpus again.") from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RunnerError(
            f"{path.parent} is not a finished corpus: it has no {path.name}. "
            "Build one with `glance-runner corpus --out FOLDER`."
        ) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise RunnerError(f"{path} is not valid JSON ({error}). Build the corpus again.") from error
    if not isinstance(fields, dict):
        raise RunnerError(
            f"{path} holds a {type(fields).__name__} where an object is expected. Build the corpus again."
        )
    return fields
