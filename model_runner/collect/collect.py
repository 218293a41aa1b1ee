"""One pass of a model over a corpus split, keeping what excites each unit most, into a run folder."""

# Shape suffixes: B contexts of a block, T tokens of a context, F neurons of a layer, N documents, E positions.
import io
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from model_runner.collect.blocks import Take, read_blocks
from model_runner.collect.collected import write_collected
from model_runner.collect.config import CollectConfig, CollectSettings, settle_config
from model_runner.collect.contexts import Block, Contexts, cut_contexts, first_documents, shard
from model_runner.collect.group import Group, merge_groups, new_groups, read_layer, settle_groups
from model_runner.collect.state import forget_states, load_state, make_room, save_state, state_file
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.hold import hold
from model_runner.memory import give_back_freed_memory
from model_runner.progress import Bar, progress
from model_runner.ranks import Ranks, open_ranks
from model_runner.run.error import RunFolderError
from model_runner.run.folder import open_run
from model_runner.run.info import INFO_NAME, RunInfo
from model_runner.subject import Reader, Subject
from model_runner.train.resume import refuse_change

SAVE_SECONDS = 30.0
GIVE_BACK_BLOCKS = 32
"""After so many blocks freed memory goes back to the system: seldom enough to cost nothing that can be measured."""


def collect(subject: Subject, corpus: Corpus, folder: Path, config: CollectConfig) -> RunInfo:
    """Collect the top snippets of every MLP neuron into `folder`.

    A folder that is begun is continued, one that is finished is read; the result is the same, byte for byte, as
    that of one uninterrupted pass, on any number of threads. Under torchrun every rank reads a share of the
    documents and the first puts the shares together, into the same bytes again; `folder` is one for all of them.
    Raises RunnerError when the folder was begun with other settings or is damaged, when it cannot be written or
    another process is at it, when the model cannot read the corpus, and when it is broken.
    """
    settings = settle_config(config, subject, corpus)
    with open_ranks(config.device) as ranks, _alone(folder, ranks):
        if not _is_finished(folder):
            _collect(subject, corpus, folder, settings, ranks)
        elif ranks.first:
            # One that was killed at its very end may have left its state.
            forget_states(folder)
        ranks.wait()
    return _finished(folder, settings)


@contextmanager
def _alone(folder: Path, ranks: Ranks) -> Iterator[None]:
    """Keep other processes, which may have other settings, out of a folder that is not finished."""
    if _is_finished(folder):
        yield
        return
    make_room(folder, ranks)
    with hold(folder) if ranks.first else nullcontext():
        yield


def _is_finished(folder: Path) -> bool:
    try:
        return (folder / INFO_NAME).exists()
    except OSError as error:
        raise RunnerError(f"{folder} could not be read: {error.strerror}. Choose another --out.") from error


def _collect(subject: Subject, corpus: Corpus, folder: Path, settings: CollectSettings, ranks: Ranks) -> None:
    documents_N = first_documents(corpus, corpus.in_split(settings.split, settings.parts), settings.tokens)
    contexts = cut_contexts(corpus, documents_N, settings.window, settings.block)
    model = subject.model.to(str(ranks.device))
    groups = new_groups(model, subject.about.hidden, settings)
    _read(model, shard(contexts, ranks.rank, ranks.count), groups, state_file(folder, ranks), settings, ranks)
    ranks.wait()
    if ranks.first:
        for rank in range(1, ranks.count):
            other = new_groups(model, subject.about.hidden, settings)
            load_state(state_file(folder, replace(ranks, rank=rank)), settings.as_json(), other)
            merge_groups(groups, other)
        _refuse_broken(groups)
        write_collected(subject, corpus, folder, settings, documents_N, groups)
        forget_states(folder)


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


def _read(
    model: Reader, contexts: Contexts, groups: Sequence[Group], state: Path, settings: CollectSettings, ranks: Ranks
) -> None:
    """Read the blocks of a shard from where an earlier run stopped, and write the state now and then.

    With other ranks the state is written at the end as well: it is how they learn what was gathered here.
    """
    last = contexts.numbers.stop
    following = load_state(state, settings.as_json(), groups) or contexts.numbers.start
    take = taking(model, groups, contexts.corpus)
    block_tokens = settings.block * settings.window
    with _bar(state.parent.name, len(contexts.numbers) * block_tokens, ranks) as bar:
        bar.skip((following - contexts.numbers.start) * block_tokens)
        while following < last:
            is_due = partial(_is_later_than, time.monotonic() + SAVE_SECONDS)
            unfinished = -1
            for block in read_blocks(model, contexts, range(following, last), take, is_due):
                following, unfinished = following + 1, block.unfinished
                bar.advance(block_tokens)
                if following % GIVE_BACK_BLOCKS == 0:
                    give_back_freed_memory()
            settle_groups(groups, unfinished)
            if following < last:
                save_state(state, settings.as_json(), following, groups)
    if ranks.count > 1:
        save_state(state, settings.as_json(), following, groups)


def _bar(name: str, tokens: int, ranks: Ranks) -> AbstractContextManager[Bar]:
    """Only the first rank speaks: of its own share, which is like the others'."""
    what = f"Collecting {name}"
    return progress(what, tokens, "tokens") if ranks.first else nullcontext(Bar(what, tokens, "tokens", io.StringIO()))


def _is_later_than(moment: float) -> bool:
    return time.monotonic() > moment


def _refuse_broken(groups: Sequence[Group]) -> None:
    for group in groups:
        if not group.highest.finite_F.any():
            raise RunnerError(
                f"Every activation of layer {group.layer} is NaN or infinite somewhere, so nothing can be ranked. "
                "Train the model again, or choose an earlier checkpoint."
            )
