"""Hugging Face models: into a folder that says what to read, and out of it."""

from dataclasses import dataclass
from pathlib import Path

from model_runner.errors import RunnerError
from model_runner.foreign.condition import condition_of
from model_runner.foreign.down import Hidden
from model_runner.foreign.fitting import refuse_broken_model, refuse_odd_types
from model_runner.foreign.load import config_of, load_model, load_model_tokenizer
from model_runner.foreign.model import ForeignModel
from model_runner.foreign.record import FOREIGN, ForeignRecord, read_record, weight_digests, write_record
from model_runner.foreign.tokenizer import keep_tokenizer
from model_runner.foreign.wishes import Wishes
from model_runner.subject import About
from model_runner.tokenizer import load_tokenizer

LONGEST_CONTEXT = 1024
"""Every snippet keeps a whole context, so a model that could read more is read with this much at a time."""


@dataclass(frozen=True)
class Foreign:
    """A Hugging Face model and what is known of it."""

    model: ForeignModel
    record: ForeignRecord

    @property
    def digest(self) -> str:
        return self.record.digest

    @property
    def about(self) -> About:
        return About(
            condition=self.record.condition,
            size=self.record.size,
            layers=self.record.layers,
            hidden=self.record.hidden,
            context=self.record.context,
            seed=self.record.seed,
            train_tokens=self.record.train_tokens,
            validation_loss=None,
            tokenizer_digest=self.record.tokenizer_digest,
        )


def import_huggingface(source: str, folder: Path, gguf_file: str | None, out: Path, wishes: Wishes) -> Foreign:
    """Look at a model, keep its tokenizer, and write down in `out` how it is read; the weights stay in `folder`.

    Raises RunnerError when it cannot be read, when its weights do not fit its config, are no floating-point numbers
    or are broken, and when it has no hidden units that can be found.
    """
    files = _weight_files(folder, gguf_file)
    model = load_model(folder, gguf_file)
    refuse_odd_types((file for file in files if file.suffix == ".safetensors"), model.network)
    refuse_broken_model(folder, model.network)
    tokenizer = load_tokenizer(wishes.tokenizer) if wishes.tokenizer else load_model_tokenizer(folder, gguf_file)
    config = config_of(model)
    record = ForeignRecord(
        source=source,
        folder=str(folder),
        gguf_file=gguf_file,
        architecture=type(model.network).__name__,
        condition=wishes.condition or condition_of(config, model.hidden.gated),
        size=matrix_numbers(model.hidden),
        layers=len(model.hidden.downs),
        hidden=model.hidden.units,
        context=_context(config["context"], wishes.context),
        seed=wishes.seed,
        train_tokens=wishes.train_tokens,
        tokenizer_digest=keep_tokenizer(tokenizer, out, int(config["vocab_size"])),
        weights=weight_digests([*files, *_config_files(folder, gguf_file)]),
    )
    write_record(out, record)
    return Foreign(model, record)


def load_foreign(folder: Path) -> Foreign:
    """Read an imported model: on the CPU, in float32, in evaluation mode, without gradients.

    Raises RunnerError when its weights are gone or have changed since it was imported, and when foreign.json says
    otherwise than they do.
    """
    record = read_record(folder)
    model = load_model(Path(record.folder), record.gguf_file)
    known = config_of(model)["context"]
    there = {"layers": len(model.hidden.downs), "hidden": model.hidden.units, "size": matrix_numbers(model.hidden)}
    for name, number in (there | {"context": min(record.context, known or record.context)}).items():
        if getattr(record, name) != number:
            raise RunnerError(
                f"{folder / FOREIGN} says {name} {getattr(record, name):,} of a model with {number:,}. Import it again."
            )
    return Foreign(model, record)


def matrix_numbers(hidden: Hidden) -> int:
    """A model's size as ours are counted: the numbers in the matrices of its layers, embeddings left out."""
    return sum(parameter.numel() for parameter in hidden.layers.parameters() if parameter.ndim > 1)


def _context(known: int | None, wished: int | None) -> int:
    if wished is None and known is None:
        raise RunnerError("The model's config does not say how many tokens it reads. Say it with --context.")
    if wished is not None and known is not None and wished > known:
        raise RunnerError(f"A context of {wished} tokens is longer than the model's, {known}.")
    return wished or min(known or LONGEST_CONTEXT, LONGEST_CONTEXT)


def _weight_files(folder: Path, gguf_file: str | None) -> list[Path]:
    if gguf_file:
        return [folder / gguf_file]
    found = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    if not found:
        raise RunnerError(f"{folder} holds no *.safetensors and no pytorch_model*.bin.")
    return found


def _config_files(folder: Path, gguf_file: str | None) -> list[Path]:
    """What else decides about activations; a GGUF file holds its config itself."""
    return [] if gguf_file else [folder / "config.json"]
