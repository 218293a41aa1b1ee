"""The run folder: what excites each unit of one model over one corpus. This file reads it.

NumPy and json only, so that the web application can import it. Everything is memory-mapped: opening costs
a few headers, one neuron costs microseconds. Format 1:

run.json                    what was collected (RunInfo), and the shape, type and digest of every array
units.npy                   a row a unit (UNIT)
token_bytes.npy, token_offsets.npy   the vocabulary: bytes of token t are [offsets[t], offsets[t + 1])
histogram.npy, histogram_edges.npy, moments.npy, band_edges.npy   where asked for: see Spread
SECTION.offsets.npy         rows of unit u are [offsets[u], offsets[u + 1])
SECTION.snippets.npy        a row a snippet (ROW), best first within a unit
SECTION.tokens.npy, SECTION.activations.npy, SECTION.after_norm.npy   snippet after snippet, a value a token
rules.json                  where a rule rater was here: see run_rules.py; it has a digest of its own

Shapes: U units, S snippets of a section, N tokens of a section, W tokens of a snippet, V vocabulary.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model_runner.run_digest import first_change
from model_runner.run_error import RunFolderError as RunFolderError
from model_runner.run_rules import RunRules, read_rules

FORMAT = 1
INFO_NAME = "run.json"
KINDS = ("neuron", "direction")
STATES = ("ok", "dead", "never_positive", "too_few", "not_finite")
UNIT = np.dtype([("layer", "<i4"), ("kind", "u1"), ("index", "<i4"), ("state", "u1"), ("snippets", "<i4")])
ROW = np.dtype(
    [
        ("at", "<i8"),  # where the snippet's tokens begin in the section's flat arrays
        ("length", "<i4"),
        ("peak", "<i4"),
        ("value", "<f4"),
        ("document", "<i8"),
        ("start", "<i4"),
        ("document_start", "?"),
        ("document_end", "?"),
        ("collapsed", "<i4"),
    ]
)
MOMENTS = np.dtype(
    [
        ("tokens", "<i8"),
        ("mean", "<f8"),
        ("variance", "<f8"),
        ("density", "<f8"),  # share of the tokens above the bin around zero
        ("least", "<f4"),
        ("greatest", "<f4"),
    ]
)
FIXED_ARRAYS = frozenset({"units", "token_bytes", "token_offsets"})
SECTION_ARRAYS = frozenset({"offsets", "snippets", "tokens", "activations"})
SPREAD_ARRAYS = frozenset({"histogram", "histogram_edges", "moments", "band_edges"})
OPTIONAL_SECTION_ARRAYS = frozenset({"after_norm"})
FLAT = ("tokens", "activations", "after_norm")


class Snippet(NamedTuple):
    """The context a unit fired in, with an activation for each token."""

    tokens_W: NDArray[np.unsignedinteger[Any]]
    """Token ids of the whole context without padding, the beginning-of-text token first."""
    activations_W: NDArray[np.float32]
    """The unit's activation at each of these tokens, as it was ranked."""
    after_norm_W: NDArray[np.float32] | None
    """The same after the post-activation LayerNorm, where the model has one."""
    peak: int
    """Index of the token that was ranked, the first of the highest rankable ones."""
    value: float
    """activations_W[peak]."""
    document: int
    """Number of the document in its corpus."""
    start: int
    """Offset in the document's tokens of the first token after the beginning-of-text token."""
    document_start: bool
    """The document begins in this context."""
    document_end: bool
    """The document ends in this context."""
    collapsed: int
    """How many other documents carry a near-duplicate of the text at the peak."""


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


class Spread(NamedTuple):
    """How the activations of one unit are spread over all rankable tokens."""

    counts_B: NDArray[np.int64]
    """Tokens in each bin."""
    edges_B1: NDArray[np.float32]
    """B + 1 ascending edges, the outermost infinite; an edge belongs to the bin further from zero."""
    band_edges: NDArray[np.float32]
    """Falling: the snippets of section "band-b" are at least edge b + 1 and below edge b."""
    tokens: int
    mean: float
    variance: float
    density: float
    """Share of the tokens above the bin around zero."""
    least: float
    greatest: float


class _Section(NamedTuple):
    offsets: NDArray[np.int64]
    rows: NDArray[np.void]
    tokens: NDArray[np.unsignedinteger[Any]]
    activations: NDArray[np.float32]
    after_norm: NDArray[np.float32] | None


@dataclass(frozen=True)
class Run:
    """An open run folder. Arrays are views of mapped files: copy before changing."""

    folder: Path
    info: RunInfo
    units: NDArray[np.void]
    specials: frozenset[int]
    _sections: Mapping[str, _Section]
    _token_bytes: NDArray[np.uint8]
    _token_offsets: NDArray[np.int64]
    _spread: Mapping[str, NDArray[Any]]

    def snippets(self, section: str, unit: int) -> list[Snippet]:
        """The snippets of the unit's row in `units`, best first.

        Raises RunFolderError where there is no such section or unit.
        """
        if section not in self._sections:
            raise RunFolderError(f'{self.folder} has no section "{section}"; it has {", ".join(self.info.sections)}.')
        self._check_unit(unit)
        return list(_snippets(self._sections[section], unit))

    def spread(self, unit: int) -> Spread | None:
        """The spread of the unit's activations, or None where it was not collected."""
        self._check_unit(unit)
        if not self._spread:
            return None
        numbers = self._spread["moments"][unit].item()
        counts_B, edges_B1 = self._spread["histogram"][unit], self._spread["histogram_edges"]
        return Spread(counts_B, edges_B1, self._spread["band_edges"][unit], *numbers)

    def rules(self) -> RunRules | None:
        """What a rule rater found, None where none was here. Raises RunFolderError where its file is damaged."""
        return read_rules(self.folder, self.info.digest, len(self.units))

    def _check_unit(self, unit: int) -> None:
        if not 0 <= unit < len(self.units):
            raise RunFolderError(f"{self.folder} has units 0 to {len(self.units) - 1}, and no unit {unit}.")

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token; several tokens may share a character."""
        if not 0 <= token_id < self.vocabulary:
            raise RunFolderError(f"Token {token_id} is outside the vocabulary of {self.vocabulary} tokens.")
        return self._token_bytes[self._token_offsets[token_id] : self._token_offsets[token_id + 1]].tobytes()

    def texts(self, token_ids: Iterable[int]) -> list[bytes]:
        """The bytes of many tokens. The whole vocabulary is cut into pieces once, so that each costs next to nothing.

        Raises RunFolderError where one is outside the vocabulary.
        """
        pieces = self._pieces
        try:
            return [pieces[token_id] for token_id in token_ids]
        except IndexError:
            raise RunFolderError(f"{self.folder} has a token outside its vocabulary of {self.vocabulary}.") from None

    @cached_property
    def _pieces(self) -> list[bytes]:
        whole, offsets = self._token_bytes.tobytes(), self._token_offsets.tolist()
        return [whole[start:stop] for start, stop in pairwise(offsets)]

    @property
    def vocabulary(self) -> int:
        return len(self._token_offsets) - 1


def _snippets(section: _Section, unit: int) -> Iterator[Snippet]:
    tokens, activations, after_norm = section.tokens, section.activations, section.after_norm
    rows = section.rows[section.offsets[unit] : section.offsets[unit + 1]].tolist()
    for at, length, peak, value, *where in rows:
        end = at + length
        after_W = None if after_norm is None else after_norm[at:end]
        yield Snippet(tokens[at:end], activations[at:end], after_W, peak, value, *where)


def open_run(folder: Path | str, *, every_byte: bool = False) -> Run:
    """Open a run folder for reading; on request compare every byte with the digests, which reads the whole folder.

    Raises RunFolderError where the folder is not finished, is damaged, or has an unknown format.
    """
    folder = Path(folder)
    raw = _read_json(folder)
    if raw.get("format") != FORMAT:
        raise RunFolderError(
            f"{folder} has run folder format {raw.get('format')!r}, and this program reads format {FORMAT}. "
            "Collect it again, or use the program's version that wrote it."
        )
    described = raw.pop("arrays", None)
    info = _info(folder, raw)
    if not isinstance(described, dict):
        raise RunFolderError(f'{folder / INFO_NAME} has no table "arrays". Collect the run again.')
    _check_names(folder, info, set(described))
    arrays = {name: _map(folder, name, description) for name, description in described.items()}
    _check_lengths(folder, info, arrays)
    if every_byte and (changed := first_change(folder, asdict(info), described)):
        raise RunFolderError(f"{folder / changed} was changed after the run was collected. Collect the run again.")
    if every_byte:
        read_rules(folder, info.digest, len(arrays["units"]))
    sections = {name: _section(arrays, name) for name in info.sections}
    vocabulary = arrays["token_bytes"], arrays["token_offsets"]
    spread = {name: arrays[name] for name in SPREAD_ARRAYS & arrays.keys()}
    return Run(folder, info, arrays["units"], frozenset(info.specials), sections, *vocabulary, spread)


def _read_json(folder: Path) -> dict[str, Any]:
    path = folder / INFO_NAME
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunFolderError(
            f"{folder} has no {INFO_NAME}, so its collection is not finished. Run the same collect command "
            "again; it continues where it stopped."
        ) from None
    except (ValueError, OSError) as error:
        raise RunFolderError(f"{path} cannot be read: {error}. Collect the run again.") from None
    if not isinstance(raw, dict):
        raise RunFolderError(f"{path} is not a JSON object. Collect the run again.")
    return raw


def _info(folder: Path, raw: dict[str, Any]) -> RunInfo:
    known = {field.name for field in fields(RunInfo)}
    for what, names in (("does not know", set(raw) - known), ("misses", known - set(raw))):
        if names:
            raise RunFolderError(f"In {folder / INFO_NAME}, this program {what} {', '.join(sorted(names))}.")
    if raw["activation_point"] not in ("before_norm", "only"):
        point = raw["activation_point"]
        raise RunFolderError(f"{folder} was read at the activation point {point!r}, which this program does not know.")
    return RunInfo(**raw)


def _check_names(folder: Path, info: RunInfo, names: set[str]) -> None:
    needed = FIXED_ARRAYS | {f"{section}.{part}" for section in info.sections for part in SECTION_ARRAYS}
    optional = {f"{section}.{part}" for section in info.sections for part in OPTIONAL_SECTION_ARRAYS}
    if names & SPREAD_ARRAYS:
        needed |= SPREAD_ARRAYS
    if missing := needed - names:
        raise RunFolderError(f"{folder / INFO_NAME} does not describe {', '.join(sorted(missing))}.")
    if unknown := names - needed - optional:
        raise RunFolderError(f"{folder} holds {', '.join(sorted(unknown))}, which this program does not know.")


_ONE_HEADER = Lock()
"""NumPy reads a header with Python's parser. In Python 3.11 that fails (SystemError) where a garbage collection lets
another thread into it, so one thread at a time."""


def _map(folder: Path, name: str, description: dict[str, Any]) -> NDArray[Any]:
    """Map one array and compare it with its description; a file too short for its header is refused."""
    path = folder / f"{name}.npy"
    try:
        with _ONE_HEADER:
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise RunFolderError(f"{path} is missing. Collect the run again.") from None
    except (ValueError, OSError, EOFError) as error:
        raise RunFolderError(f"{path} is damaged or cut short ({error}). Collect the run again.") from None
    descr, shape = np.lib.format.dtype_to_descr(mapped.dtype), list(mapped.shape)
    if shape != description.get("shape") or descr != _descr(description):
        raise RunFolderError(
            f"{path} holds {descr} of shape {shape}, and {INFO_NAME} promises {description.get('dtype')} "
            f"of shape {description.get('shape')}. Collect the run again."
        )
    # A plain array over the same mapping: slicing np.memmap costs ten times as much.
    plain: NDArray[Any] = mapped.view(np.ndarray)
    return plain


def _descr(description: dict[str, Any]) -> Any:
    """JSON has no tuples, and NumPy's description of a structured type is a list of them."""
    descr = description.get("dtype")
    return descr if isinstance(descr, str) or descr is None else [tuple(field) for field in descr]


def _check_lengths(folder: Path, info: RunInfo, arrays: Mapping[str, NDArray[Any]]) -> None:
    units = len(arrays["units"])
    expected: dict[str, np.dtype[Any]] = {"units": UNIT}
    for section in info.sections:
        offsets, tokens = arrays[f"{section}.offsets"], arrays[f"{section}.tokens"]
        rows = arrays[f"{section}.snippets"]
        expected[f"{section}.snippets"] = ROW
        flat = [arrays[f"{section}.{part}"] for part in FLAT if f"{section}.{part}" in arrays]
        fits = all(len(array) == len(tokens) for array in flat)
        if len(offsets) != units + 1 or offsets[-1] != len(rows) or not fits:
            raise RunFolderError(f'In {folder}, the arrays of section "{section}" do not fit together.')
    if "histogram" in arrays:
        bins = len(arrays["histogram_edges"]) - 1
        expected["moments"] = MOMENTS
        bands = sum(section.startswith("band-") for section in info.sections)
        shapes = [arrays[name].shape for name in ("histogram", "moments", "band_edges")]
        if shapes != [(units, bins), (units,), (units, bands + 1)]:
            raise RunFolderError(f"In {folder}, the histogram or the bands do not fit their edges or the units.")
    for name, dtype in expected.items():
        if arrays[name].dtype != dtype:
            raise RunFolderError(f"{folder / name}.npy has columns that this program does not know.")


def _section(arrays: Mapping[str, NDArray[Any]], name: str) -> _Section:
    offsets, rows = arrays[f"{name}.offsets"], arrays[f"{name}.snippets"]
    tokens, activations = arrays[f"{name}.tokens"], arrays[f"{name}.activations"]
    return _Section(offsets, rows, tokens, activations, arrays.get(f"{name}.after_norm"))


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
