"""Reading a Hugging Face model from its files, through transformers, in float32."""

import logging
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from tokenizers import Tokenizer

from model_runner.errors import RunnerError
from model_runner.foreign.down import find_hidden
from model_runner.foreign.fitting import refuse_gaps
from model_runner.foreign.model import ForeignModel
from model_runner.foreign.tokenizer import TOKENIZER
from model_runner.tokenizer import load_tokenizer

NEEDED = "Reading such a model needs transformers. Run, in Glance's folder: pip install -c constraints.txt -e '.[hf]'"


def load_model(folder: Path, gguf_file: str | None = None) -> ForeignModel:
    """Read a causal language model from a folder, or from a GGUF file in it, which is dequantised.

    No code that comes with a model is run, and nothing is downloaded. Raises RunnerError when transformers
    cannot read it, and when its hidden units cannot be found.
    """
    transformers = _transformers()
    try:
        network, found = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            gguf_file=gguf_file,
            dtype=torch.float32,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            # So that it says which; they are refused below.
            ignore_mismatched_sizes=True,
        )
    except _failures() as error:
        raise RunnerError(
            f"transformers cannot read {gguf_file or 'the model'} in {folder}: {_in_a_line(error)} "
            "If a file is damaged or incomplete, fetch the model again."
        ) from error
    layers = _text_config(network).num_hidden_layers
    refuse_gaps(folder, found, layers)
    return ForeignModel(network, find_hidden(network, layers))


def _failures() -> tuple[type[Exception], ...]:
    """What reading a damaged or unknown model has been seen to raise."""
    from huggingface_hub.errors import StrictDataclassError

    known = (OSError, ValueError, TypeError, KeyError, IndexError, RuntimeError, ImportError)
    of_its_code = (ArithmeticError, AssertionError, AttributeError)
    return (*known, *of_its_code, SafetensorError, UnpicklingError, StrictDataclassError)


def _in_a_line(error: Exception) -> str:
    """The library's reason without its line breaks, and not more than anybody reads."""
    return " ".join(str(error).split())[:400]


def load_model_tokenizer(folder: Path, gguf_file: str | None = None) -> Tokenizer:
    """The tokenizer that lies beside a model, or in its GGUF file. Raises RunnerError when there is none."""
    if gguf_file is None and (folder / TOKENIZER).is_file():
        return load_tokenizer(folder / TOKENIZER)
    transformers = _transformers()
    try:
        loaded = transformers.AutoTokenizer.from_pretrained(
            folder, gguf_file=gguf_file, local_files_only=True, trust_remote_code=False
        )
        tokenizer: Tokenizer = loaded.backend_tokenizer
    except (OSError, ValueError, KeyError, ImportError, AttributeError) as error:
        raise RunnerError(
            f"{folder} holds no tokenizer that can be read ({error}). Give a tokenizer.json with --tokenizer."
        ) from error
    return tokenizer


def config_of(model: ForeignModel) -> dict[str, Any]:
    """The model's Hugging Face config, the part about text, with its names as the library unifies them."""
    config = _text_config(model.network)
    return {**config.to_dict(), "context": getattr(config, "max_position_embeddings", None)}


def _text_config(network: Any) -> Any:
    return network.config.get_text_config()


def _transformers() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise RunnerError(NEEDED) from error
    # What it says on the way is meant for its own users; failures come as exceptions.
    transformers.utils.logging.disable_progress_bar()
    logging.getLogger("transformers").setLevel(logging.ERROR)
    return transformers
