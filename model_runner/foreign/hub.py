"""A model's files: a local folder or file, or a name on the Hugging Face hub."""

from collections.abc import Sequence
from pathlib import Path

from model_runner.errors import RunnerError

TOKENIZER_FILES = ("*.json", "*.txt", "tokenizer.model")
WEIGHT_FILES = ("*.safetensors", "*.bin", "*final.pth")


def find_folder(name: str, files: Sequence[str] = (*TOKENIZER_FILES, *WEIGHT_FILES)) -> Path:
    """The folder that holds a model: the one given, or a snapshot of the hub's repository `OWNER/NAME`.

    Raises RunnerError when there is no such folder and the hub does not answer.
    """
    if Path(name).is_dir():
        return Path(name).resolve()
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        raise RunnerError(f"There is no folder {name}, and a name on the hub looks like OWNER/NAME.")
    return _snapshot(name, files)


def _snapshot(name: str, files: Sequence[str]) -> Path:
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError as error:
        raise RunnerError(
            f"There is no folder {name}, and reading from the hub needs another package. "
            "Run, in Glance's folder: pip install -c constraints.txt -e '.[hf]'"
        ) from error
    try:
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=list(files)))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = (str(error).strip().splitlines() or [f"{type(error).__name__}."])[0]
        raise RunnerError(
            f"There is no folder {name}, and the hub did not give it: {reason} "
            "Check the name and the network, or give a folder that holds the model."
        ) from error
