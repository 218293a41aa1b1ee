"""A trained model in a folder: weights, config, and how it came about."""

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from model_runner.architecture.config import ModelConfig, config_from
from model_runner.architecture.model import Transformer
from model_runner.errors import RunnerError
from model_runner.files import file_digest, make_folder, read_json, remove, write_atomically, write_json
from model_runner.foreign.record import FOREIGN
from model_runner.record import Unfit, record_of
from model_runner.subject import About
from model_runner.weights import refuse_broken, refuse_misfit

FORMAT = 1
WEIGHTS, CONFIG, TRAIN = "model.safetensors", "config.json", "train.json"


@dataclass(frozen=True, kw_only=True)
class TrainRecord:
    """What train.json says: where the weights come from and how good they are."""

    format: int = FORMAT
    step: int
    tokens: int
    """Training tokens seen."""
    loss: float | None
    """Mean training loss of the last steps, nats a token; of an imported model nobody knows it."""
    val_loss: float | None
    """Held-out loss, nats a token."""
    seed: int
    corpus_digest: str
    tokenizer_digest: str
    weights_digest: str
    """SHA-256 of model.safetensors."""
    seconds: float
    """Spent training, all sittings together."""
    train: dict[str, Any]
    """The TrainConfig."""
    config_digest: str = ""
    """SHA-256 of config.json; a checkpoint may be older than this field."""
    swapped_from: str = ""
    """Digest of the checkpoint that these weights were trained as, where its MLP had another form."""
    computed_on: list[dict[str, Any]] = field(default_factory=list)
    """Stretches of the training, each with its first step and what its last digits depend on."""


@dataclass(frozen=True)
class Checkpoint:
    """A trained model, its shape, and how it came about; a `subject.Subject`."""

    model: Transformer
    config: ModelConfig
    train: TrainRecord

    @property
    def digest(self) -> str:
        """Tells two checkpoints apart: the weights, and where they were swapped, the form as well."""
        if not self.train.swapped_from:
            return self.train.weights_digest
        # Both forms have the same weights, and other activations.
        return hashlib.sha256(f"{self.config.mlp} {self.train.weights_digest}".encode()).hexdigest()

    @property
    def about(self) -> About:
        return About(
            condition=self.config.mlp,
            size=self.config.non_embedding_parameters,
            layers=self.config.layers,
            hidden=self.config.hidden,
            context=self.config.context,
            seed=self.train.seed,
            train_tokens=self.train.tokens,
            validation_loss=self.train.val_loss,
            tokenizer_digest=self.train.tokenizer_digest,
        )


def save_checkpoint(folder: Path, model: Transformer, train: TrainRecord) -> Checkpoint:
    """Write a complete checkpoint; train.json comes last, so a folder that has it is whole.

    The digests of `train` are filled in here.
    """
    make_folder(folder)
    remove(folder / TRAIN)
    write_atomically(folder / WEIGHTS, safetensors.torch.save(model.state_dict()))
    write_json(folder / CONFIG, {"format": FORMAT, **dataclasses.asdict(model.config)})
    weights, config = file_digest(folder / WEIGHTS), file_digest(folder / CONFIG)
    record = dataclasses.replace(train, weights_digest=weights, config_digest=config)
    write_json(folder / TRAIN, dataclasses.asdict(record))
    return Checkpoint(model, model.config, record)


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read a complete checkpoint: the model on the CPU, in evaluation mode, without gradients.

    Raises RunnerError for a folder that is incomplete, damaged, of another format, or whose weights are
    not those of its config.
    """
    if not folder.is_dir():
        raise RunnerError(f"There is no folder {folder}. Name one that `glance-runner train` or `import` made.")
    if not (folder / TRAIN).is_file() and (folder / FOREIGN).is_file():
        raise RunnerError(f"{folder} is an imported Hugging Face model, which can be collected and served and no more.")
    if not (folder / TRAIN).is_file():
        raise RunnerError(f"{folder} holds no finished checkpoint: it has no {TRAIN}. Train it to the end first.")
    record = _read_record(folder / TRAIN)
    config = config_from(ModelConfig, _read_format(folder / CONFIG), str(folder / CONFIG))
    if file_digest(folder / WEIGHTS) != record.weights_digest:
        raise RunnerError(
            f"{folder / WEIGHTS} is damaged: it is not the file that {TRAIN} describes. "
            "Restore it from a copy, or train again."
        )
    if record.config_digest and file_digest(folder / CONFIG) != record.config_digest:
        raise RunnerError(
            f"{folder / CONFIG} has changed since {TRAIN} was written, so the weights would mean something else. "
            "Restore it from a copy, or train again."
        )
    # Only now: a changed config may ask for more memory than there is.
    model = Transformer(config)
    load_weights(model, read_tensors(folder / WEIGHTS), folder / WEIGHTS)
    return Checkpoint(model.eval().requires_grad_(False), config, record)


def read_tensors(file: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file. Raises RunnerError when it is missing, cut short or damaged."""
    try:
        tensors: dict[str, Tensor] = safetensors.torch.load_file(file)
        return tensors
    except (SafetensorError, OSError) as error:
        raise RunnerError(
            f"{file} cannot be read as safetensors: {error}. Restore it from a copy, or make it again."
        ) from error


def load_weights(model: Transformer, tensors: Mapping[str, Tensor], file: Path) -> None:
    """Copy tensors into a model, in place.

    Raises RunnerError, with the tensor, when names, shapes or types differ, and for NaN and infinite numbers
    except in the matrices up, where they break single neurons: collecting gives those a state of their own.
    """
    wanted = model.state_dict()
    refuse_misfit(wanted, tensors, file)
    refuse_broken(tensors, file, but=".mlp.up.")
    with torch.no_grad():
        for name, tensor in wanted.items():
            tensor.copy_(tensors[name])


def _read_format(file: Path) -> dict[str, Any]:
    values = read_json(file)
    if values.pop("format", None) != FORMAT:
        raise RunnerError(f"{file} is not of format {FORMAT}, the one this version reads.")
    return values


def _read_record(file: Path) -> TrainRecord:
    try:
        return record_of(TrainRecord, _read_format(file))
    except Unfit as error:
        raise RunnerError(f"{file} {error}. Restore it from a copy, or train again.") from error
