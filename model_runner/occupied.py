"""What a folder holds already, so that nothing of another kind is written over it."""

from pathlib import Path

from model_runner.checkpoint import TRAIN
from model_runner.corpus.names import INFO
from model_runner.errors import RunnerError
from model_runner.foreign.record import FOREIGN
from model_runner.train.resume import STATE

KINDS = {
    INFO: "a corpus",
    TRAIN: "a checkpoint",
    STATE: "a training that is not finished",
    FOREIGN: "an imported model",
}
"""By the file that makes a folder what it is. They share names of files, tokenizer.json and config.json for two."""


def refuse_occupied(folder: Path, *but: str) -> None:
    """Raise RunnerError where a folder holds anything of KINDS, but for what belongs there or shares no file."""
    for name, what in KINDS.items():
        if name not in but and (folder / name).exists():
            raise RunnerError(f"{folder} holds {what} already ({name}), which would be spoilt. Choose another --out.")
