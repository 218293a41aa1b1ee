"""What is collected: the user's wishes, and the settings that they come to for one model and corpus."""

from dataclasses import asdict, dataclass
from typing import Any

from model_runner.bounds import MOST, refuse_outside
from model_runner.corpus.info import SPLITS
from model_runner.corpus.parts import readable
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.subject import Subject

BLOCK_TOKENS = 2048
"""Tokens that go through the model together by default: few enough to stay in a processor's cache."""
MOST_BLOCK_TOKENS = 1 << 20
"""A block's activations are in memory, those of a layer at a time: 4 bytes for each neuron and token."""
MOST_DIRECTIONS = 10_000
"""A study shows a few dozen of them."""
MOST_KEPT = 1_000
"""Far more than anybody reads; memory is units x kept x window, and a system out of memory kills without a word."""


@dataclass(frozen=True, kw_only=True)
class CollectConfig:
    """What a user asks for."""

    split: str = "collect"
    parts: tuple[str, ...] | None = None
    """Parts of the corpus; None means those that a rater can be expected to read."""
    kept: int = 20
    """Snippets kept for each unit."""
    window: int | None = None
    """Tokens in a context, BOS included; None means the model's own."""
    tokens: int | None = None
    """Stop at the document in which this many tokens are reached; None means the whole split."""
    block: int | None = None
    """Contexts that go through the model together; it changes the last bits of activations, no more."""
    complete: bool = False
    """Also the lowest activations, the exact histogram, moments and extremes."""
    directions: int = 0
    """Random directions collected like neurons, in each layer."""
    directions_seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        refuse_outside("kept", self.kept, 1, MOST_KEPT, ", since memory holds them all")
        refuse_outside("tokens", self.tokens, 1, MOST)
        refuse_outside("block", self.block, 1, MOST_BLOCK_TOKENS)
        refuse_outside("window", self.window, 1, MOST_BLOCK_TOKENS)
        refuse_outside("directions", self.directions, 0, MOST_DIRECTIONS, ", since memory holds them all")
        refuse_outside("directions_seed", self.directions_seed, 0, MOST)
        if self.split not in SPLITS:
            raise RunnerError(f'There is no split "{self.split}"; the splits are {", ".join(SPLITS)}.')
        if self.parts is not None and not self.parts:
            raise RunnerError("No parts were named; leave the option out to collect over the readable ones.")


@dataclass(frozen=True, kw_only=True)
class CollectSettings:
    """Everything that a collection's result depends on, but for the last bits that are the machine's own.

    Kept in run.json and in the state on disk.
    """

    checkpoint_digest: str
    corpus_digest: str
    split: str
    parts: tuple[str, ...]
    kept: int
    window: int
    tokens: int | None
    block: int
    complete: bool
    directions: int
    directions_seed: int

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "parts": list(self.parts)}


def settle_config(config: CollectConfig, subject: Subject, corpus: Corpus) -> CollectSettings:
    """Fill in the defaults.

    Raises RunnerError when the model cannot read the corpus or the window is longer than its context.
    """
    if subject.about.tokenizer_digest != corpus.info.tokenizer_digest:
        raise RunnerError(
            f"The model reads tokenizer {subject.about.tokenizer_digest[:12]} and the corpus {corpus.folder} "
            f"was made with {corpus.info.tokenizer_digest[:12]}. Collect over a corpus made with the model's."
        )
    window = config.window or subject.about.context
    if window > subject.about.context:
        raise RunnerError(f"A window of {window} tokens is longer than the model's context of {subject.about.context}.")
    block = config.block or max(1, BLOCK_TOKENS // window)
    if block * window > MOST_BLOCK_TOKENS:
        raise RunnerError(
            f"A block of {block:,} contexts of {window:,} tokens is too large for memory; it must be at most "
            f"{MOST_BLOCK_TOKENS:,} tokens, which is --block {MOST_BLOCK_TOKENS // window}."
        )
    return CollectSettings(
        checkpoint_digest=subject.digest,
        corpus_digest=corpus.info.digest,
        split=config.split,
        parts=config.parts or tuple(readable(corpus.info.parts)),
        kept=config.kept,
        window=window,
        tokens=config.tokens,
        block=block,
        complete=config.complete,
        directions=config.directions,
        directions_seed=config.directions_seed,
    )
