"""What tests of collecting share: settings, a checkpoint, its activations, and a run that is stopped."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from model_runner.architecture.config import MLPName, ModelConfig
from model_runner.architecture.model import new_model
from model_runner.checkpoint import Checkpoint, TrainRecord, save_checkpoint
from model_runner.collect import collect as collecting
from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig
from model_runner.collect.contexts import cut_contexts
from model_runner.corpus.store import Corpus
from tests.model_runner.brute_force import MadeDocument

WINDOW = 16
CONFIG = CollectConfig(kept=5, block=3)
COMPLETE = replace(CONFIG, complete=True, directions=3, directions_seed=5)
SHAPE_NOISE = {"rtol": 5e-3, "atol": 1e-3}
"""How far the same activation may be off when it comes from a batch of another shape: this model is wild."""


def make_checkpoint(folder: Path, corpus: Corpus, mlp: MLPName = "solu_ln", layers: int = 2) -> Checkpoint:
    """A model with random weights that is large enough to have opinions."""
    config = ModelConfig(vocab_size=corpus.info.vocab_size, context=WINDOW, layers=layers, heads=2, width=8, mlp=mlp)
    model = new_model(config, 0)
    with torch.no_grad():
        for number, block in enumerate(model.blocks):
            generator = torch.Generator().manual_seed(number)
            block.mlp.up.weight.mul_(100)
            for weight in (block.attention.out.weight, block.mlp.down.weight):
                weight.normal_(0.0, 1.0, generator=generator)
    record = TrainRecord(
        step=1,
        tokens=1,
        loss=1.0,
        val_loss=None,
        seed=3,
        corpus_digest=corpus.info.digest,
        tokenizer_digest=corpus.info.tokenizer_digest,
        weights_digest="",
        seconds=0.0,
        train={},
    )
    checkpoint = save_checkpoint(folder, model.eval().requires_grad_(False), record)
    return replace(checkpoint, model=checkpoint.model.eval())


def in_blocks(checkpoint: Checkpoint, corpus: Corpus, layer: int) -> list[MadeDocument]:
    """Every document with the layer's activations (tokens, units), from batches of the shape that is collected."""
    contexts = cut_contexts(corpus, corpus.in_split("collect"), WINDOW, 3)
    parts: dict[int, list[NDArray[np.float32]]] = {}
    for block in map(contexts.block, contexts.numbers):
        acts_BTF = list(checkpoint.model.activations(torch.from_numpy(block.tokens_BT)))[layer].numpy()
        for row, document in enumerate(block.document_B.tolist()):
            parts.setdefault(document, []).append(acts_BTF[row, 1 : block.length_B[row]])
    return [
        MadeDocument(n, np.concatenate(acts), corpus.document_clusters(n), np.zeros(sum(map(len, acts)), bool))
        for n, acts in parts.items()
        if n >= 0
    ]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class Stop(Exception):
    """Raised where a test wants a collection to stop."""


def begin(
    checkpoint: Checkpoint,
    corpus: Corpus,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    blocks: int,
    config: CollectConfig = CONFIG,
) -> None:
    """Collect `blocks` blocks with a state after each, then stop in the middle of the next."""
    monkeypatch.setattr(collecting, "SAVE_SECONDS", -1.0)
    real, layers = collecting.read_layer, len(checkpoint.model.norms)
    left = [blocks * layers + layers - 1]

    def stopping(*arguments: object) -> None:
        if not left[0]:
            raise Stop
        left[0] -= 1
        real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(collecting, "read_layer", stopping)
    with pytest.raises(Stop):
        collect(checkpoint, corpus, folder, config)
    monkeypatch.setattr(collecting, "read_layer", real)
