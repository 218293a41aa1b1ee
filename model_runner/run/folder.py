"""The run folder: what excites each unit of one model over one corpus. This file opens and reads it.

No torch, so that the web application can import it. Everything is memory-mapped: opening costs
a few headers, one neuron costs microseconds. Format 1:

run.json                    what was collected (run_info.py), and the shape, type and digest of every array
units.npy                   a row a unit (UNIT in run_arrays.py, as ROW below)
token_bytes.npy, token_offsets.npy   the vocabulary: bytes of token t are [offsets[t], offsets[t + 1])
histogram.npy, histogram_edges.npy, moments.npy, band_edges.npy   where asked for: see Spread
SECTION.offsets.npy         rows of unit u are [offsets[u], offsets[u + 1])
SECTION.snippets.npy        a row a snippet (ROW), best first within a unit
SECTION.tokens.npy, SECTION.activations.npy, SECTION.after_norm.npy   snippet after snippet, a value a token
rules.json                  where a rule rater was here: see run_rules.py; it has a digest of its own

Shapes: U units, S snippets of a section, N tokens of a section, W tokens of a snippet, V vocabulary.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model_runner.run.arrays import SPREAD_ARRAYS, map_arrays
from model_runner.run.digest import first_change
from model_runner.run.error import RunFolderError
from model_runner.run.info import RunInfo, read_info
from model_runner.run.rules import RunRules, read_rules


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
    info, described = read_info(folder)
    arrays = map_arrays(folder, info, described)
    if every_byte:
        refuse_change(folder)
        read_rules(folder, info.digest, len(arrays["units"]))
    sections = {name: _section(arrays, name) for name in info.sections}
    vocabulary = arrays["token_bytes"], arrays["token_offsets"]
    spread = {name: arrays[name] for name in SPREAD_ARRAYS & arrays.keys()}
    return Run(folder, info, arrays["units"], frozenset(info.specials), sections, *vocabulary, spread)


def refuse_change(folder: Path) -> None:
    """Raise RunFolderError where an array or run.json was changed after the run was collected. Reads every byte."""
    info, described = read_info(folder)
    if changed := first_change(folder, asdict(info), described):
        raise RunFolderError(f"{folder / changed} was changed after the run was collected. Collect the run again.")


def _section(arrays: Mapping[str, NDArray[Any]], name: str) -> _Section:
    offsets, rows = arrays[f"{name}.offsets"], arrays[f"{name}.snippets"]
    tokens, activations = arrays[f"{name}.tokens"], arrays[f"{name}.activations"]
    return _Section(offsets, rows, tokens, activations, arrays.get(f"{name}.after_norm"))
