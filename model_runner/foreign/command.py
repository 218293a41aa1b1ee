"""What `glance-runner import` and `glance-runner export` do."""

import argparse
import shutil
import sys
from pathlib import Path

from model_runner.checkpoint import TRAIN, load_checkpoint
from model_runner.errors import RunnerError
from model_runner.files import make_folder, read_json
from model_runner.foreign.hub import find_folder
from model_runner.foreign.lens import export_lens, import_lens
from model_runner.foreign.lens_config import CONFIG, is_lens_config
from model_runner.foreign.record import FOREIGN
from model_runner.foreign.wishes import Wishes
from model_runner.occupied import refuse_occupied
from model_runner.subject import Subject
from model_runner.words import counted


def run_import(options: argparse.Namespace) -> None:
    """Import what the options name, and say what it is."""
    wishes = Wishes(
        tokenizer=options.tokenizer,
        context=options.context,
        condition=options.condition,
        seed=options.seed,
        train_tokens=options.train_tokens,
    )
    about = import_model(options.source, options.out, wishes).about
    sys.stdout.write(
        f"{about.condition}: {counted(about.layers, 'layer')} of {counted(about.hidden, 'unit')}, "
        f"{counted(about.size, 'parameter')} without embeddings, read {counted(about.context, 'token')} at a time.\n"
        f"It is in {options.out}. Build its corpus with "
        f"`glance-runner corpus --tokenizer {options.out / 'tokenizer.json'} --out FOLDER`.\n"
    )


def import_model(source: str, out: Path, wishes: Wishes) -> Subject:
    """Import a model in TransformerLens's layout, a Hugging Face model, or a GGUF file, into a new folder.

    Raises RunnerError when `out` holds a model or a corpus already or cannot be written, and for whatever cannot be
    imported; a folder that was made for it is removed again.
    """
    refuse_occupied(out)
    new = not out.exists()
    make_folder(out)
    try:
        return _import(source, out, wishes)
    except RunnerError:
        if new:
            shutil.rmtree(out, ignore_errors=True)
        raise


def _import(source: str, out: Path, wishes: Wishes) -> Subject:
    if source.endswith(".gguf"):
        return _import_gguf(source, out, wishes)
    folder = find_folder(source)
    if not (folder / CONFIG).is_file():
        raise RunnerError(f"{folder} has no {CONFIG}, which says what model it is; a GGUF file is given by its name.")
    config = read_json(folder / CONFIG)
    if is_lens_config(config):
        return import_lens(source, folder, out, wishes)
    if "model_type" not in config and (folder / TRAIN).is_file():
        raise RunnerError(f"{folder} is a checkpoint already. Collect it with `glance-runner collect` as it is.")
    from model_runner.foreign.huggingface import import_huggingface

    return import_huggingface(source, folder, None, out, wishes)


def _import_gguf(source: str, out: Path, wishes: Wishes) -> Subject:
    from model_runner.foreign.huggingface import import_huggingface

    file = Path(source)
    if not file.is_file():
        raise RunnerError(f"There is no file {source}.")
    return import_huggingface(source, file.resolve().parent, file.name, out, wishes)


def run_export(options: argparse.Namespace) -> None:
    """Export a checkpoint, and say how it is read."""
    refuse_occupied(options.out)
    if not (options.checkpoint / TRAIN).is_file() and (options.checkpoint / FOREIGN).is_file():
        raise RunnerError(f"{options.checkpoint} is an imported Hugging Face model; only our own can be exported.")
    export_lens(load_checkpoint(options.checkpoint), options.checkpoint, options.out)
    sys.stdout.write(
        f"It is in {options.out}: HookedTransformerConfig(**config.json), then "
        "load_and_process_state_dict(model_final.pth, fold_ln=False, …); docs/import.md says more.\n"
    )
