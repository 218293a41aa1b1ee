"""One pass of a model over a corpus split, keeping what excites each unit most, into a run folder."""

# Shape suffixes: B contexts of a block, T tokens of a context.
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from model_runner.capture import Gathered, gather, nothing_gathered
from model_runner.collect_config import CollectConfig, CollectSettings, settle_config
from model_runner.collect_state import PARTIAL_NAME, forget_state, load_state, save_state
from model_runner.contexts import Block, Contexts, cut_contexts, first_documents
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.progress import progress
from model_runner.resume import refuse_change
from model_runner.run_folder import INFO_NAME, UNIT, RunFolderError, RunInfo, open_run
from model_runner.run_writer import Vocabulary, write_run
from model_runner.section import pack, unit_states
from model_runner.subject import Reader, Subject
from model_runner.waiting import settle

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
    layers = [_fresh(after is not None, subject, settings) for after in model.norms]
    tokens = _read(model, contexts, layers, folder, settings)
    _refuse_broken(layers)
    info = _write(subject, corpus, folder, settings, documents_N, tokens, layers)
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


def _fresh(with_norm: bool, subject: Subject, settings: CollectSettings) -> Gathered:
    return nothing_gathered(subject.about.hidden, settings.kept, settings.window, 2 if with_norm else 1)


def cluster_of(corpus: Corpus, document: int, positions_E: NDArray[np.int64]) -> NDArray[np.int64]:
    """The near-duplicate cluster of each of these tokens of a document."""
    chunks = corpus.document_chunks(document)
    places_E = np.searchsorted(chunks["start"], positions_E, side="right") - 1
    clusters_E: NDArray[np.int64] = chunks["cluster"][places_E]
    return clusters_E


def read_block(model: Reader, block: Block, layers: Sequence[Gathered], corpus: Corpus) -> None:
    """Put one block through the model, and what it excites into the lists of each layer."""
    tokens_BT = torch.from_numpy(block.tokens_BT).to(model.device)
    with torch.inference_mode():
        for gathered, norm, acts_BTF in zip(layers, model.norms, model.activations(tokens_BT), strict=True):
            gather(gathered, acts_BTF.float(), block, lambda d, at_E: cluster_of(corpus, d, at_E), norm)


def settle_all(layers: Sequence[Gathered], unfinished: int) -> None:
    for gathered in layers:
        settle(gathered.waiting, gathered.lists, unfinished)


def _read(
    model: Reader, contexts: Contexts, layers: Sequence[Gathered], folder: Path, settings: CollectSettings
) -> int:
    """Read all blocks from where an earlier run stopped, and return the rankable tokens of all of them."""
    first = load_state(folder, settings.as_json(), layers)
    tokens = int(contexts.corpus.documents["length"][contexts.documents_N].sum(dtype=np.int64))
    saved = time.monotonic()
    with progress(f"Collecting {folder.name}", contexts.blocks * settings.block * settings.window, "tokens") as bar:
        bar.skip(first * settings.block * settings.window)
        for number in range(first, contexts.blocks):
            block = contexts.block(number)
            read_block(model, block, layers, contexts.corpus)
            bar.advance(block.tokens_BT.size)
            if time.monotonic() - saved > SAVE_SECONDS:
                settle_all(layers, block.unfinished)
                save_state(folder, settings.as_json(), number + 1, layers)
                saved = time.monotonic()
    settle_all(layers, -1)
    return tokens


def _refuse_broken(layers: Sequence[Gathered]) -> None:
    for number, gathered in enumerate(layers):
        if not gathered.finite_F.any():
            raise RunnerError(
                f"Every activation of layer {number} is NaN or infinite somewhere, so nothing can be ranked. "
                "Train the model again, or choose an earlier checkpoint."
            )


def _write(
    subject: Subject,
    corpus: Corpus,
    folder: Path,
    settings: CollectSettings,
    documents_N: NDArray[np.int64],
    tokens: int,
    layers: Sequence[Gathered],
) -> RunInfo:
    section = pack(layers, corpus, settings.window)
    about, hidden = subject.about, subject.about.hidden
    units = np.zeros(len(layers) * hidden, UNIT)
    units["layer"], units["index"] = np.divmod(np.arange(len(units)), hidden)
    units["state"] = np.concatenate([unit_states(layer, settings.kept) for layer in layers])
    units["snippets"] = np.diff(section.offsets)
    info = RunInfo(
        name=folder.name,
        condition=about.condition,
        size=about.size,
        seed=about.seed,
        layers=about.layers,
        hidden=hidden,
        validation_loss=about.validation_loss,
        train_tokens=about.train_tokens,
        checkpoint_digest=subject.digest,
        activation_point="only" if section.after_norm is None else "before_norm",
        corpus_digest=corpus.info.digest,
        tokenizer_digest=corpus.info.tokenizer_digest,
        split=settings.split,
        window=settings.window,
        kept=settings.kept,
        parts=list(settings.parts),
        exclusions=["the first position of every context", f"the special token {corpus.info.bos}", "padding"],
        sections=[],
        sources=_sources(corpus, settings.parts),
        specials=[corpus.info.bos],
        directions=0,
        directions_seed=None,
        collected_documents=len(documents_N),
        collected_tokens=tokens,
        settings=settings.as_json(),
    )
    vocabulary = Vocabulary(corpus.token_bytes_flat, corpus.token_offsets)
    return write_run(folder, info, units, {"top": section}, vocabulary)


def _sources(corpus: Corpus, parts: Sequence[str]) -> list[dict[str, Any]]:
    """The sources of these parts, as JSON keeps them."""
    used = [source for source in corpus.info.sources if set(source.parts) & set(parts)]
    return [{**asdict(source), "parts": [part for part in source.parts if part in parts]} for source in used]
