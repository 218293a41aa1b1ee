"""What run.json says about a collection, and which collections one study can compare.

No torch, so that the web application can import it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from model_runner.record import Unfit, object_in, record_of
from model_runner.run.error import RunFolderError

FORMAT = 1
INFO_NAME = "run.json"


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """What run.json says about a collection."""

    name: str
    """The run's name, usually its checkpoint's."""
    condition: str
    """The MLP's kind: gelu, solu, solu_ln, gelu_ln, …"""
    size: int
    """Parameters of the model, embedding and unembedding aside."""
    seed: int
    """Of the model's training; 0 where nobody said."""
    layers: int
    hidden: int
    """MLP hidden units in each layer."""
    validation_loss: float | None
    """Nats a token on held-out text, where it is known."""
    train_tokens: int
    """Tokens the model was trained on; 0 where nobody said."""
    checkpoint_digest: str
    activation_point: Literal["before_norm", "only"]
    """Where the activation was read: before the post-activation LayerNorm, or there is no such norm."""
    corpus_digest: str
    tokenizer_digest: str
    split: str
    """The corpus split that was collected over."""
    window: int
    """Tokens in a context, the beginning-of-text token included."""
    kept: int
    """Snippets kept for a unit in a section, at most."""
    parts: list[str]
    """Parts of the corpus that were collected over."""
    exclusions: list[str]
    """What was never ranked, a phrase each."""
    sections: list[str]
    """Names of the sections: "top", and more where they were asked for."""
    sources: list[dict[str, Any]]
    """Where the text is from, with its licence."""
    specials: list[int]
    """Token ids that are not text."""
    directions: int
    """Random directions collected in each layer; zero where none were."""
    directions_seed: int | None
    """Their seed: one seed gives the same directions to every model of the same hidden size."""
    collected_documents: int
    collected_tokens: int
    """Rankable tokens that were looked at."""
    settings: dict[str, Any]
    """What the result depends on; collecting again with the same settings reuses the folder."""
    format: int = FORMAT
    digest: str = ""
    """SHA-256 over everything else in run.json, the digests of the arrays included."""


@dataclass(frozen=True)
class Described:
    """What run.json says of one array."""

    dtype: str | list[tuple[str, str]]
    """NumPy's description: of a table, the name and type of each column."""
    shape: list[int]
    sha256: str
    """Of its file."""


def read_info(folder: Path) -> tuple[RunInfo, dict[str, dict[str, Any]]]:
    """What run.json says of the run, and of each of its arrays.

    Raises RunFolderError where the folder is not finished, has an unknown format, or the file is damaged: a
    field missing, unknown or of another type.
    """
    raw = _read_json(folder)
    if raw.get("format") != FORMAT:
        raise RunFolderError(
            f"{folder} has run folder format {raw.get('format')!r}, and this program reads format {FORMAT}. "
            "Collect it again, or use the program's version that wrote it."
        )
    described = _described(folder, raw.pop("arrays", None))
    try:
        return record_of(RunInfo, raw), described
    except Unfit as error:
        raise RunFolderError(f"{folder / INFO_NAME} {error}. Collect the run again.") from None


def _read_json(folder: Path) -> dict[str, Any]:
    path = folder / INFO_NAME
    try:
        return object_in(path.read_bytes())
    except FileNotFoundError:
        if not folder.is_dir():
            raise RunFolderError(f"There is no folder {folder}. Name one that `glance-runner collect` made.") from None
        raise RunFolderError(
            f"{folder} has no {INFO_NAME}, so its collection is not finished. Run the same collect command "
            "again; it continues where it stopped."
        ) from None
    except (ValueError, OSError) as error:
        raise RunFolderError(f"{path} cannot be read: {error}. Collect the run again.") from None


def _described(folder: Path, described: Any) -> dict[str, dict[str, Any]]:
    try:
        arrays = record_of(dict[str, Described], described)
    except Unfit as error:
        raise RunFolderError(f"In {folder / INFO_NAME}, the table of arrays {error}. Collect the run again.") from None
    return {name: asdict(array) for name, array in arrays.items()}


MUST_AGREE: Mapping[str, str] = {
    "tokenizer_digest": "tokenizers",
    "corpus_digest": "corpora",
    "split": "splits of the corpus",
    "window": "windows",
    "kept": "numbers of snippets kept",
    "exclusions": "exclusions",
    "parts": "parts of the corpus",
}


def comparable(infos: Sequence[RunInfo]) -> list[str]:
    """Sentences naming what keeps these runs from one study; empty where nothing does."""
    return [
        f"The runs have different {what}: {_each(infos, name)}."
        for name, what in MUST_AGREE.items()
        if len({json.dumps(getattr(info, name)) for info in infos}) > 1
    ]


def _each(infos: Sequence[RunInfo], name: str) -> str:
    return "; ".join(f"{info.name} has {_said(getattr(info, name))}" for info in infos)


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)[:16]
