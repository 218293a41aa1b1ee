"""Models in TransformerLens's layout: into one of our checkpoints, and out of one."""

import io
import re
from pathlib import Path

import torch

from model_runner.architecture.config import ModelConfig
from model_runner.architecture.model import Transformer
from model_runner.checkpoint import Checkpoint, TrainRecord, load_weights, save_checkpoint
from model_runner.errors import RunnerError
from model_runner.files import make_folder, read_json, write_atomically, write_json
from model_runner.foreign.lens_config import CONFIG, config_from_lens, lens_config
from model_runner.foreign.lens_layout import to_lens
from model_runner.foreign.lens_weights import read_state, weight_file, weights_from_state
from model_runner.foreign.tokenizer import TOKENIZER, keep_tokenizer
from model_runner.foreign.wishes import Wishes
from model_runner.tokenizer import load_tokenizer

WEIGHTS = "model_final.pth"
PUBLIC = re.compile(r"(SoLU|GELU)_(\d+)L\d+W_C4_Code")


def import_lens(source: str, folder: Path, out: Path, wishes: Wishes) -> Checkpoint:
    """Make a checkpoint of a folder with config.json and a state, as NeelNanda/SoLU_* have it.

    Raises RunnerError, with the tensor and its shapes, for what does not fit.
    """
    if wishes.context or wishes.condition:
        raise RunnerError("The config.json of this model says its context and its MLP; leave both options out.")
    config = config_from_lens(read_json(folder / CONFIG))
    file = weight_file(folder)
    weights = weights_from_state(read_state(file), config, file)
    model = Transformer(config)
    load_weights(model, weights, file)
    tokenizer = load_tokenizer(wishes.tokenizer or _tokenizer(folder))
    digest = keep_tokenizer(tokenizer, out, config.vocab_size)
    record = TrainRecord(
        step=0,
        tokens=wishes.train_tokens or public_train_tokens(source),
        loss=None,
        val_loss=None,
        seed=wishes.seed,
        corpus_digest="",
        tokenizer_digest=digest,
        weights_digest="",
        seconds=0.0,
        train={"imported_from": source},
    )
    return save_checkpoint(out, model.eval().requires_grad_(False), record)


def public_train_tokens(source: str) -> int:
    """Tokens that a public model was trained on, by its name; 0 for any other."""
    found = PUBLIC.search(source)
    if not found:
        return 0
    return 22_000_000_000 if int(found[2]) <= 6 else 30_000_000_000


def _tokenizer(folder: Path) -> Path:
    if not (folder / TOKENIZER).is_file():
        raise RunnerError(
            f"{folder} holds no {TOKENIZER}, without which no corpus can be built for the model. Give it with "
            "--tokenizer; the public SoLU and GELU models share that of NeelNanda/gpt-neox-tokenizer-digits."
        )
    return folder / TOKENIZER


def export_lens(checkpoint: Checkpoint, source: Path, out: Path) -> None:
    """Write a checkpoint in TransformerLens's layout, its tokenizer.json beside it where it has one.

    Raises RunnerError for a model that TransformerLens has no settings for.
    """
    values = lens_config(checkpoint.config)
    make_folder(out)
    write_atomically(out / WEIGHTS, _as_bytes(checkpoint.model, checkpoint.config))
    if (source / TOKENIZER).is_file():
        write_atomically(out / TOKENIZER, (source / TOKENIZER).read_bytes())
    write_json(out / CONFIG, values)


def _as_bytes(model: Transformer, config: ModelConfig) -> bytes:
    stream = io.BytesIO()
    torch.save(to_lens(model.state_dict(), config), stream)
    return stream.getvalue()
