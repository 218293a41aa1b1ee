"""How well a checkpoint predicts held-out documents: two numbers with their standard errors, kept beside it."""

import dataclasses
import math
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model_runner.checkpoint import Checkpoint
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.evaluation.document_losses import DOCUMENT_LOSS, document_losses, first_documents
from model_runner.evaluation.ratio import Ratio, ratio
from model_runner.files import read_json, remove, write_atomically, write_json
from model_runner.npy import read_array
from model_runner.record import Unfit, record_of
from model_runner.words import counted

FORMAT = 1
EVALUATION, DOCUMENTS = "evaluation.json", "evaluation.npy"
SPLIT = "heldout"


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What evaluation.json says. The loss of each document lies in evaluation.npy."""

    format: int = FORMAT
    checkpoint_digest: str
    corpus_digest: str
    split: str
    context: int
    """Tokens that the model reads at most."""
    documents: int
    tokens: int
    """Predicted tokens, BOS not among them."""
    bytes: int
    """Of their text in UTF-8."""
    loss: float
    """Nats a token."""
    loss_standard_error: float
    """Over documents."""
    bits_per_byte: float
    bits_per_byte_standard_error: float
    """Over documents."""

    @property
    def sentence(self) -> str:
        return (
            f"Held-out loss {self.loss:.4f} ± {self.loss_standard_error:.4f} nats a token, "
            f"{self.bits_per_byte:.4f} ± {self.bits_per_byte_standard_error:.4f} bits per byte, over "
            f"{counted(self.documents, 'document')} of {counted(self.tokens, 'token')} "
            "(± one standard error over documents)."
        )


def evaluate(checkpoint: Checkpoint, corpus: Corpus, tokens: int | None) -> tuple[Evaluation, NDArray[np.void]]:
    """Evaluate on the held-out documents up to `tokens` tokens, or all. Returns the rows of DOCUMENT_LOSS as well.

    Each document is read on its own, from its BOS; train.json's val_loss is of documents packed one after the
    other, in which a window may begin anywhere, and of fewer tokens. Raises RunnerError for a corpus with another
    tokenizer, and for fewer than two documents.
    """
    if corpus.info.tokenizer_digest != checkpoint.train.tokenizer_digest:
        raise RunnerError(
            f"{corpus.folder} has another tokenizer than the checkpoint was trained with. "
            "Evaluate over a corpus that was made with its tokenizer."
        )
    if tokens is not None and tokens < 1:
        raise RunnerError(f"--tokens is {tokens}; it must be at least 1.")
    rows = document_losses(checkpoint.model, corpus, first_documents(corpus, SPLIT, tokens))
    return summary(rows, checkpoint, corpus.info.digest), rows


def summary(rows: NDArray[np.void], checkpoint: Checkpoint, corpus_digest: str) -> Evaluation:
    """The two ratios over documents. Raises RunnerError for fewer than two documents."""
    loss = ratio(rows["nats"], rows["tokens"])
    bits = bits_per_byte(rows)
    return Evaluation(
        checkpoint_digest=checkpoint.digest,
        corpus_digest=corpus_digest,
        split=SPLIT,
        context=checkpoint.config.context,
        documents=len(rows),
        tokens=int(rows["tokens"].sum()),
        bytes=int(rows["bytes"].sum()),
        loss=loss.value,
        loss_standard_error=loss.standard_error,
        bits_per_byte=bits.value,
        bits_per_byte_standard_error=bits.standard_error,
    )


def bits_per_byte(rows: NDArray[np.void]) -> Ratio:
    """Summed nats / ln 2 over summed bytes of UTF-8: a measure that does not depend on the tokenizer.

    Source: Gao et al. 2020, "The Pile", section 3.1, there with the sums over the whole text as here.
    """
    return ratio(rows["nats"] / math.log(2), rows["bytes"])


def save_evaluation(folder: Path, evaluation: Evaluation, rows: NDArray[np.void]) -> None:
    """Write evaluation.npy and then evaluation.json into a checkpoint folder, each whole or not at all."""
    content = BytesIO()
    np.save(content, rows)
    remove(folder / EVALUATION)
    write_atomically(folder / DOCUMENTS, content.getvalue())
    write_json(folder / EVALUATION, dataclasses.asdict(evaluation))


def load_evaluation(folder: Path, checkpoint_digest: str) -> tuple[Evaluation, NDArray[np.void]]:
    """Read what `save_evaluation` wrote.

    Raises RunnerError when there is none, when it is of another checkpoint or format, or damaged.
    """
    if not (folder / EVALUATION).is_file():
        raise RunnerError(f"{folder} is not evaluated yet. {_command(folder)}")
    values = read_json(folder / EVALUATION)
    again = _command(folder)
    if values.get("format") != FORMAT:
        raise RunnerError(f"{folder / EVALUATION} is not of format {FORMAT}, the one this version reads. {again}")
    try:
        evaluation = record_of(Evaluation, values)
    except Unfit as error:
        raise RunnerError(f"{folder / EVALUATION} {error}. {again}") from error
    if evaluation.checkpoint_digest != checkpoint_digest:
        raise RunnerError(f"{folder / EVALUATION} is of other weights than lie beside it. {again}")
    rows = _read_rows(folder / DOCUMENTS, again)
    if len(rows) != evaluation.documents:
        raise RunnerError(f"{folder / DOCUMENTS} has {len(rows)} documents and not {evaluation.documents}. {again}")
    return evaluation, rows


def _command(folder: Path) -> str:
    return f"Run `glance-runner evaluate --checkpoint {folder} --corpus … --save`."


def _read_rows(file: Path, again: str) -> NDArray[np.void]:
    try:
        rows = read_array(file)
    except (OSError, ValueError) as error:
        raise RunnerError(f"{file} is missing or cut short ({error}). {again}") from error
    if rows.dtype != DOCUMENT_LOSS or rows.ndim != 1:
        raise RunnerError(f"{file} holds {rows.dtype} and not a loss for each document. {again}")
    return rows
