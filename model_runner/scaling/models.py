"""The models of a ladder, read from their checkpoint folders, and whether they can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model_runner.checkpoint import load_checkpoint
from model_runner.errors import RunnerError
from model_runner.evaluation.evaluation import Evaluation, load_evaluation
from model_runner.train.metrics import read_metrics


@dataclass(frozen=True)
class Model:
    """One trained and evaluated model."""

    folder: Path
    arm: str
    """What its neurons do: gelu, solu_ln, …"""
    size: int
    """Parameters, embedding and unembedding aside."""
    seed: int
    tokens: int
    """It was trained on."""
    evaluation: Evaluation
    documents: NDArray[np.void]
    """A row of DOCUMENT_LOSS for each held-out document."""
    course: dict[int, float]
    """Held-out loss (nats a token) at training tokens, where it was read."""


def read_models(folders: Sequence[Path]) -> list[Model]:
    """Read models that were evaluated with --save, ordered by arm, size and seed.

    Raises RunnerError when one is not, when one is given twice, and when they were not trained on as many tokens or
    not evaluated on the same documents: a loss says something about size only where all else is alike.
    """
    models = sorted((_read(folder) for folder in folders), key=lambda model: (model.arm, model.size, model.seed))
    for model in models[1:]:
        _refuse_difference(models[0], model)
    _refuse_twice(models)
    return models


def of_arm(models: Sequence[Model], arm: str) -> list[Model]:
    """The models of one arm, in their order. Raises RunnerError when there are none."""
    found = [model for model in models if model.arm == arm]
    if not found:
        arms = ", ".join(sorted({model.arm for model in models}))
        raise RunnerError(f"None of the checkpoints is of {arm!r}; they are of {arms}.")
    return found


def _read(folder: Path) -> Model:
    checkpoint = load_checkpoint(folder)
    evaluation, rows = load_evaluation(folder, checkpoint.digest)
    return Model(
        folder=folder,
        arm=checkpoint.config.mlp,
        size=checkpoint.config.non_embedding_parameters,
        seed=checkpoint.train.seed,
        tokens=checkpoint.train.tokens,
        evaluation=evaluation,
        documents=rows,
        course={one.tokens: one.val_loss for one in read_metrics(folder) if one.val_loss is not None},
    )


def _refuse_twice(models: Sequence[Model]) -> None:
    """A model that counts twice makes every interval too narrow."""
    seen: dict[tuple[str, str], Path] = {}
    for model in models:
        other = seen.setdefault((model.arm, model.evaluation.checkpoint_digest), model.folder)
        if other is not model.folder:
            raise RunnerError(f"{other} and {model.folder} are the same model. Give it once.")


def _refuse_difference(one: Model, other: Model) -> None:
    if one.tokens != other.tokens:
        raise RunnerError(
            f"{one.folder} was trained on {one.tokens:,} tokens and {other.folder} on {other.tokens:,}. "
            "Compare models that were trained on as many."
        )
    same_text = one.evaluation.corpus_digest == other.evaluation.corpus_digest
    if not same_text or not np.array_equal(one.documents["document"], other.documents["document"]):
        raise RunnerError(
            f"{one.folder} and {other.folder} were evaluated on different documents. "
            "Evaluate both with the same --corpus and --tokens."
        )
