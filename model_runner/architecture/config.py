"""The shape of a model and how it is trained, read from a TOML file and kept beside the weights."""

import reprlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from model_runner.bounds import MOST, refuse_not_above_zero, refuse_outside
from model_runner.errors import RunnerError
from model_runner.record import Unfit, record_of

MLPName = Literal["gelu", "solu", "solu_ln", "gelu_ln", "exp_ln"]
MLP_NAMES: tuple[str, ...] = get_args(MLPName)
PositionName = Literal["rotary", "learned"]
POSITION_NAMES: tuple[str, ...] = get_args(PositionName)

CONFIGS = Path(__file__).parent / "configs"

# Far past what anybody trains. Beyond, a machine would run out of memory and kill the program without a word.
LARGEST_MODEL = {
    "vocab_size": 1 << 20,
    "context": 1 << 20,
    "layers": 1_000,
    "heads": 1_000,
    "width": 1 << 17,
    "n_blocks": 1 << 19,
    "local_window": 1 << 20,
}
LONGEST_TRAINING = {
    "tokens": 10**15,
    "batch_tokens": 1 << 28,
    "validate_every": 10**12,
    "validation_tokens": 10**12,
    "checkpoint_every": 10**12,
}

Config = TypeVar("Config", bound="ModelConfig | TrainConfig")


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The shape of one transformer. Saved beside the weights as config.json."""

    vocab_size: int
    context: int = 256
    """Tokens in a window; attention knows no positions past it."""
    layers: int = 1
    heads: int = 4
    width: int = 256
    mlp: MLPName = "gelu"
    """What the neurons do: the only thing that differs between the arms of a study."""
    n_blocks: int = 1
    """Blocks of the hidden dimension within which SoLU's softmax and the LayerNorm after it are taken."""
    positions: PositionName = "rotary"
    """How attention knows where a token stands: turned by its distance, or a learned vector added to its embedding."""
    rotary_base: float = 10_000.0
    local_heads: int = 0
    """Heads of each layer that read only the last `local_window` tokens; the others read all that came before."""
    local_window: int = 256
    """Tokens that a local head reads, the token itself counted."""

    def __post_init__(self) -> None:
        for name, most in LARGEST_MODEL.items():
            refuse_outside(name, getattr(self, name), 1, most)
        refuse_not_above_zero("rotary_base", self.rotary_base)
        if self.mlp not in MLP_NAMES:
            raise RunnerError(f"There is no MLP called {self.mlp!r}; choose one of {', '.join(MLP_NAMES)}.")
        if self.positions not in POSITION_NAMES:
            raise RunnerError(f"There are no positions {self.positions!r}; choose {' or '.join(POSITION_NAMES)}.")
        if self.width % (2 * self.heads):
            raise RunnerError(
                f"Width {self.width} does not give {self.heads} heads an even size each; "
                f"choose a multiple of {2 * self.heads}."
            )
        if not 0 <= self.local_heads <= self.heads:
            raise RunnerError(f"local_heads is {self.local_heads}; it must be 0 to {self.heads}, the heads of a layer.")
        if self.hidden % self.n_blocks:
            raise RunnerError(f"{self.hidden} neurons cannot be cut into {self.n_blocks} equal blocks.")

    @property
    def hidden(self) -> int:
        """Neurons in one layer."""
        return 4 * self.width

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    @property
    def non_embedding_parameters(self) -> int:
        """The usual size of a model: its matrices without the two embeddings, 12 layers width^2.

        Biases and gains are left out, so that arms of one shape have one size although the
        LayerNorm arms hold a few more numbers.
        """
        return 12 * self.layers * self.width**2


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How a model is trained. Equal in every arm of a study."""

    tokens: int
    """Training tokens, in whole steps; the learning rate's course is laid out over them."""
    batch_tokens: int = 4096
    """Tokens in one step, over all ranks: as many whole windows as they hold, and one at least."""
    learning_rate: float = 2e-3
    """Peak rate of the matrices at width 256; it falls as 1 / width."""
    embedding_rate: float = 1e-3
    """Peak rate of embeddings, biases and LayerNorms, at any width."""
    weight_decay: float = 0.05
    """Of the matrices only."""
    warmup_share: float = 0.05
    """Share of the steps over which the rate rises from zero."""
    final_rate: float = 0.1
    """Where the cosine ends, as a share of the peak."""
    beta_1: float = 0.9
    beta_2: float = 0.99
    clip: float = 1.0
    """Largest norm of a step's gradient."""
    seed: int = 0
    """Of the initial weights and of the order of the data."""
    validate_every: int = 100
    """Steps between two readings of the held-out loss."""
    validation_tokens: int = 65_536
    checkpoint_every: int = 100
    """Steps between two writings of the state that training resumes from."""
    bf16: bool = False
    """Multiply matrices in bfloat16; weights and sums stay in float32."""

    def __post_init__(self) -> None:
        for name, most in LONGEST_TRAINING.items():
            refuse_outside(name, getattr(self, name), 1, most)
        refuse_outside("seed", self.seed, 0, MOST)
        for name in ("learning_rate", "embedding_rate", "clip"):
            refuse_not_above_zero(name, getattr(self, name))
        if not 0 <= self.weight_decay < inf:
            raise RunnerError(f"weight_decay is {self.weight_decay}; it must be at least 0 and finite.")
        for name in ("warmup_share", "final_rate", "beta_1", "beta_2"):
            if not 0 <= getattr(self, name) < 1:
                raise RunnerError(f"{name} is {getattr(self, name)}; it must be at least 0 and below 1.")


def find_config(name_or_file: str) -> Path:
    """The file of a config that ships with the package, or the file itself.

    Raises RunnerError when there is neither.
    """
    shipped = CONFIGS / f"{name_or_file}.toml"
    if shipped.is_file():
        return shipped
    if Path(name_or_file).is_file():
        return Path(name_or_file)
    names = ", ".join(sorted(path.stem for path in CONFIGS.glob("*.toml")))
    raise RunnerError(f"There is no config {name_or_file!r}: give a TOML file or one of {names}.")


def read_config(file: Path, model: Mapping[str, Any], train: Mapping[str, Any]) -> tuple[ModelConfig, TrainConfig]:
    """The two configs of a TOML file with tables [model] and [train], overridden by what is given.

    Raises RunnerError for a file that is not TOML and for names or types that a config does not have.
    """
    tables = _read_toml(file)
    unknown = tables.keys() - {"model", "train"}
    if unknown:
        raise RunnerError(f"{file} has {sorted(unknown)}; a config has the tables [model] and [train] only.")
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise RunnerError(f"{file} says {name} = {reprlib.repr(table)}; it must be a table, [{name}].")
    return (
        config_from(ModelConfig, {**tables.get("model", {}), **model}, str(file)),
        config_from(TrainConfig, {**tables.get("train", {}), **train}, str(file)),
    )


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunnerError(f"{file} could not be read: {error.strerror}. Give another --config.") from error
    except ValueError as error:  # what is no TOML or no UTF-8, and a whole number of more digits than Python reads
        raise RunnerError(f"{file} is not a TOML file: {error}.") from error
    except RecursionError as error:
        raise RunnerError(f"{file} is not a TOML file that can be read: it is nested too deeply.") from error


def config_from(kind: type[Config], values: Mapping[str, Any], source: str) -> Config:
    """A config from a table of values; `source` is named in the RunnerError for a wrong name, type or value."""
    try:
        return record_of(kind, values)
    except Unfit as error:
        raise RunnerError(f"{source} {error}.") from error
