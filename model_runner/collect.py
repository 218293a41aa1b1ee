"""One pass of a model over a corpus split, keeping what excites each unit most, into a run folder."""

# Shape suffixes: B contexts of a block, T tokens of a context, F neurons of a layer, N documents, E positions.
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.blocks import Take, read_blocks
from model_runner.collect_config import CollectConfig, CollectSettings, settle_config
from model_runner.collect_state import PARTIAL_NAME, forget_state, load_state, save_state
from model_runner.collected import write_collected
from model_runner.contexts import Block, Contexts, cut_contexts, first_documents
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.group import Group, new_groups, read_layer, settle_groups
from model_runner.progress import progress
from model_runner.resume import refuse_change
from model_runner.run_folder import INFO_NAME, RunFolderError, RunInfo, open_run
from model_runner.subject import Reader, Subject

SAVE_SECONDS = 30.0


def collect(subject: Subject, corpus: Corpus, folder: Path, config: CollectConfig) -> RunInfo:
    """Collect the top snippets of every MLP neuron into `folder`.

    A folder that is begun is continued, one that is finished is read; the result is the same, byte for byte
    (on as many threads), as that of one uninterrupted pass. Raises RunnerError when the folder was begun
    with other settings or is damaged, when the model cannot read the corpus, and when it is broken.
    """
    settings = settle_config(config, subject, corpus)
    if (folder / INFO_NAME).exists():
        return _finished(folder, settings)
    documents_N = first_documents(corpus, corpus.in_split(settings.split, settings.parts), settings.tokens)
    contexts = cut_contexts(corpus, documents_N, settings.window, settings.block)
    _make_folder(folder)
    model = subject.model.to(config.device)
    groups = new_groups(model, subject.about.hidden, settings)
    _read(model, contexts, groups, folder, settings)
    _refuse_broken(groups)
    info = write_collected(subject, corpus, folder, settings, documents_N, groups)
    forget_state(folder)
    return info


def _make_folder(folder: Path) -> None:
    """Before the work, so that nobody waits for an hour to hear that it cannot be kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PARTIAL_NAME).touch()
    except OSError as error:
        raise RunnerError(f"{folder} could not be written: {error.strerror}. Choose another --out.") from error


def _finished(folder: Path, settings: CollectSettings) -> RunInfo:
    try:
        info = open_run(folder).info
    except RunFolderError as error:
        raise RunnerError(f"{error} Delete {folder / INFO_NAME} first.") from error
    refuse_change(info.settings, settings.as_json(), folder)
    return info


def cluster_of(corpus: Corpus, document: int, positions_E: NDArray[np.int64]) -> NDArray[np.int64]:
    """The near-duplicate cluster of each of these tokens of a document."""
    chunks = corpus.document_chunks(document)
    places_E = np.searchsorted(chunks["start"], positions_E, side="right") - 1
    clusters_E: NDArray[np.int64] = chunks["cluster"][places_E]
    return clusters_E


def taking(model: Reader, groups: Sequence[Group], corpus: Corpus) -> Take:
    """What lets the groups of a layer see its activations of a block."""
    here = [[group for group in groups if group.layer == layer] for layer in range(len(model.norms))]

    def take(layer: int, acts_BTF: Tensor, block: Block) -> None:
        read_layer(here[layer], acts_BTF.float(), block, partial(cluster_of, corpus), model.norms[layer])

    return take


def read_block(model: Reader, block: Block, groups: Sequence[Group], corpus: Corpus) -> None:
    """Put one block through the model, on all threads, and what it excites into the lists."""
    take = taking(model, groups, corpus)
    with torch.inference_mode():
        tokens_BT = torch.from_numpy(block.tokens_BT).to(model.device)
        for layer, acts_BTF in enumerate(model.activations(tokens_BT)):
            take(layer, acts_BTF, block)


def _read(model: Reader, contexts: Contexts, groups: Sequence[Group], folder: Path, settings: CollectSettings) -> None:
    """Read all blocks from where an earlier run stopped, and write the state now and then."""
    following = load_state(folder, settings.as_json(), groups)
    take = taking(model, groups, contexts.corpus)
    block_tokens = settings.block * settings.window
    with progress(f"Collecting {folder.name}", contexts.blocks * block_tokens, "tokens") as bar:
        bar.skip(following * block_tokens)
        while following < contexts.blocks:
            is_due = partial(_is_later_than, time.monotonic() + SAVE_SECONDS)
            unfinished = -1
            for block in read_blocks(model, contexts, range(following, contexts.blocks), take, is_due):
                following, unfinished = following + 1, block.unfinished
                bar.advance(block_tokens)
            settle_groups(groups, unfinished)
            if following < contexts.blocks:
                save_state(folder, settings.as_json(), following, groups)


def _is_later_than(moment: float) -> bool:
    return time.monotonic() > moment


def _refuse_broken(groups: Sequence[Group]) -> None:
    for group in groups:
        if not group.highest.finite_F.any():
            raise RunnerError(
                f"Every activation of layer {group.layer} is NaN or infinite somewhere, so nothing can be ranked. "
                "Train the model again, or choose an earlier checkpoint."
            )
