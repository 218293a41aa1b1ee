"""What a corpus folder says about itself in corpus.json."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from model_runner.errors import RunnerError
from model_runner.record import Unfit, object_in, record_of

FORMAT = 1
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
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
    """SHA-256 over the names of the parts, BOS, and the digest of every file: see `digest.corpus_digest`."""
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
    files: dict[str, Digest] = field(default_factory=dict)
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

    Raises RunnerError when it is missing, is not JSON, has a format that this version does not know, or a field is
    missing, unknown or of another type.
    """
    fields = _read_json(path)
    found = fields.get("format")
    if found != FORMAT:
        raise RunnerError(
            f"{path} has format {found!r} and this version reads format {FORMAT}. "
            "Build the corpus again, or use the version of glance that wrote it."
        )
    try:
        return record_of(CorpusInfo, fields)
    except Unfit as error:
        raise RunnerError(f"{path} {error}. Build the corpus again.") from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return object_in(path.read_bytes())
    except FileNotFoundError as error:
        raise RunnerError(
            f"{path.parent} is not a finished corpus: it has no {path.name}. "
            "Build one with `glance-runner corpus --out FOLDER`."
        ) from error
    except (ValueError, OSError) as error:
        raise RunnerError(f"{path} cannot be read: {error}. Build the corpus again.") from error
