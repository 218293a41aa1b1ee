"""Small models and a small corpus for the tests of the runner."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model_runner.architecture.config import MLPName, ModelConfig, TrainConfig
from model_runner.architecture.model import Transformer, new_model
from model_runner.checkpoint import TrainRecord
from model_runner.corpus.store import Corpus
from tests.corpora import make_corpus
from tests.texts import CODE, PROSE

MLPS: tuple[MLPName, ...] = ("gelu", "solu", "solu_ln", "gelu_ln")


def small_config(mlp: MLPName = "solu_ln", **given: Any) -> ModelConfig:
    values: dict[str, Any] = {"vocab_size": 384, "context": 16, "layers": 2, "heads": 2, "width": 16}
    return ModelConfig(mlp=mlp, **{**values, **given})


def small_training(**given: Any) -> TrainConfig:
    values: dict[str, Any] = {"batch_tokens": 64, "validate_every": 4, "validation_tokens": 256, "checkpoint_every": 2}
    return TrainConfig(**{"tokens": 64 * 8, **values, **given})


def scrambled(config: ModelConfig, seed: int = 0) -> Transformer:
    """A model in which every tensor does something, as after training; a new one's MLPs are silent."""
    model = new_model(config, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.3)
    return model.eval()


def random_tokens(config: ModelConfig, rows: int, tokens: int | None = None, seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(config.vocab_size, (rows, tokens or config.context), generator=generator)


def small_corpus(folder: Path, vocabulary: int = 384) -> Corpus:
    """Some three hundred short documents in every split."""
    texts = [f"{n}. {PROSE[n % len(PROSE)]} {CODE[n % len(CODE)]}" for n in range(300)]
    return make_corpus(folder, texts, vocabulary=vocabulary)


def record(**given: Any) -> TrainRecord:
    values: dict[str, Any] = {"step": 1, "tokens": 64, "loss": 6.0, "val_loss": 6.1, "seed": 0, "seconds": 1.0}
    digests = {"corpus_digest": "c", "tokenizer_digest": "t", "weights_digest": ""}
    return TrainRecord(**{**values, **digests, "train": {}, **given})
