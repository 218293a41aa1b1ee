"""What foreign.json says: whose model it is, where its weights lie, and what its units do."""

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model_runner.errors import RunnerError
from model_runner.files import file_digest, read_json, write_json
from model_runner.record import Unfit, record_of

FORMAT = 1
FOREIGN = "foreign.json"


@dataclass(frozen=True, kw_only=True)
class ForeignRecord:
    """The content of foreign.json. The weights stay where they are."""

    source: str
    """What was asked for: a folder, a file or a name on the hub."""
    folder: str
    """Where the model's files lie."""
    gguf_file: str | None
    """The GGUF file in that folder, where the model is one."""
    architecture: str
    """The class that reads it, such as GPTNeoXForCausalLM."""
    condition: str
    size: int
    """Numbers in the matrices of the layers, embeddings aside."""
    layers: int
    hidden: int
    context: int
    seed: int
    """Of its training; 0 where nobody said."""
    train_tokens: int
    """Tokens it was trained on; 0 where nobody said."""
    tokenizer_digest: str
    weights: dict[str, str]
    """SHA-256 of each file that the model is read from: its weights, and its config.json."""
    format: int = FORMAT

    @property
    def digest(self) -> str:
        """Tells two models apart: the weights, and the config through what is made of it."""
        said = f"{self.architecture} {self.condition} {self.hidden} {sorted(self.weights.values())}"
        return hashlib.sha256(said.encode()).hexdigest()


def weight_digests(files: Sequence[Path]) -> dict[str, str]:
    """SHA-256 of each file by its name."""
    return {path.name: file_digest(path) for path in files}


def write_record(folder: Path, record: ForeignRecord) -> None:
    """Write foreign.json, the last thing that an import does."""
    write_json(folder / FOREIGN, dataclasses.asdict(record))


def read_record(folder: Path) -> ForeignRecord:
    """Read foreign.json and see that the weights are still those that were imported.

    Raises RunnerError when they are gone or have changed, and for another format.
    """
    values = read_json(folder / FOREIGN)
    if values.get("format") != FORMAT:
        raise RunnerError(f"{folder / FOREIGN} is not of format {FORMAT}, the one this version reads. Import again.")
    try:
        record = record_of(ForeignRecord, values)
    except Unfit as error:
        raise RunnerError(f"{folder / FOREIGN} {error}. Import again.") from error
    for name, digest in record.weights.items():
        path = Path(record.folder, name)
        if not path.is_file():
            raise RunnerError(f"{path}, which {folder} was imported from, is gone. Put it back, or import again.")
        if file_digest(path) != digest:
            raise RunnerError(f"{path} is not the file that {folder} was imported from. Import it again.")
    return record
