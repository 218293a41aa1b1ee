"""What the person who imports a model says of it, since its files do not."""

from dataclasses import dataclass
from pathlib import Path

from model_runner.architecture.config import LARGEST_MODEL
from model_runner.bounds import MOST, refuse_outside


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """Raises RunnerError for numbers that no model has."""

    tokenizer: Path | None = None
    """The model's tokenizer.json, where it does not lie beside the weights."""
    context: int | None = None
    """Tokens that it is read with at a time; None means its own, or 1,024 where that is more."""
    condition: str | None = None
    """What its units do, where its config does not name it."""
    seed: int = 0
    """Of its training; 0 where nobody said."""
    train_tokens: int = 0
    """Tokens it was trained on; 0 where nobody said."""

    def __post_init__(self) -> None:
        refuse_outside("The context", self.context, 2, LARGEST_MODEL["context"])
        refuse_outside("The seed", self.seed, 0, MOST)
        refuse_outside("The number of training tokens", self.train_tokens, 0, MOST)
