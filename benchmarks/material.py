"""What benchmarks measure on: a corpus, and a model of the demo's shape with weights nobody trained."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from model_runner.architecture.config import MLPName, ModelConfig
from model_runner.architecture.model import Transformer, new_model
from model_runner.corpus.build import BuildConfig, build_corpus
from model_runner.corpus.documents import Document
from model_runner.corpus.info import Source
from model_runner.corpus.store import Corpus, open_corpus
from model_runner.subject import About

DEFAULT_CORPUS = Path("var/corpus")
COLLECTED = {"collect": 1.0}
WORDS, DOCUMENT_WORDS = 3000, 300


def some_corpus(tokens: int, shares: Mapping[str, float] = COLLECTED) -> Corpus:
    """The default corpus where it has been built, or made-up words with Zipf's frequencies, split by `shares`."""
    if (DEFAULT_CORPUS / "corpus.json").exists():
        return open_corpus(DEFAULT_CORPUS)
    folder = Path(tempfile.gettempdir(), f"glance-benchmark-{tokens}-{'-'.join(shares)}")
    return open_corpus(folder) if (folder / "corpus.json").exists() else _made_up(folder, tokens, shares)


def _made_up(folder: Path, tokens: int, shares: Mapping[str, float]) -> Corpus:
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlu"))
    words = np.array(["".join(rng.choice(letters, rng.integers(2, 9))) for _ in range(WORDS)])
    share = 1 / np.arange(1, WORDS + 1)
    count = tokens // DOCUMENT_WORDS + 1
    lengths = rng.integers(20, 2 * DOCUMENT_WORDS, count)
    documents = [Document(" ".join(rng.choice(words, n, p=share / share.sum())), "made-up") for n in lengths]
    config = BuildConfig(name="made-up words", shares=dict(shares))
    return build_corpus(folder, lambda: documents, _source, config)


def _source(parts: list[str]) -> tuple[Source, ...]:
    return (Source(name="made-up words", version="1", licence="CC0-1.0", parts=tuple(parts)),)


def untrained(mlp: MLPName, vocab_size: int, width: int = 256, layers: int = 1, context: int = 256) -> Transformer:
    """A model whose attention already writes, so that a token's activations depend on its context."""
    config = ModelConfig(vocab_size=vocab_size, width=width, layers=layers, context=context, mlp=mlp)
    model = new_model(config, seed=0)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith(("attention.out.weight", "mlp.down.weight")):
                weight.normal_(0.0, 0.1, generator=generator)
    return model.eval().requires_grad_(False)


@dataclass(frozen=True)
class Untrained:
    """A model as collecting wants it."""

    model: Transformer
    about: About
    digest: str = "untrained"


def untrained_subject(mlp: MLPName, corpus: Corpus, width: int = 256, layers: int = 1, context: int = 256) -> Untrained:
    model = untrained(mlp, corpus.info.vocab_size, width, layers, context)
    about = About(
        condition=mlp,
        size=model.config.non_embedding_parameters,
        layers=model.config.layers,
        hidden=model.config.hidden,
        context=model.config.context,
        seed=0,
        train_tokens=0,
        validation_loss=None,
        tokenizer_digest=corpus.info.tokenizer_digest,
    )
    return Untrained(model, about)
