"""From what was gathered to the finished run folder."""

# Shape suffixes: N documents, U units of all groups.
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model_runner.collect.banded import BANDS, band_edges, cut
from model_runner.collect.config import CollectSettings
from model_runner.collect.group import BAND_KEPT, Group
from model_runner.collect.section import Shown, pack, ranked, unit_states
from model_runner.collect.spread import edges, histogram, moments
from model_runner.corpus.store import Corpus
from model_runner.run.arrays import UNIT
from model_runner.run.info import RunInfo
from model_runner.run.writer import SectionArrays, SpreadArrays, Vocabulary, write_run
from model_runner.subject import Subject


def write_collected(
    subject: Subject,
    corpus: Corpus,
    folder: Path,
    settings: CollectSettings,
    documents_N: NDArray[np.int64],
    groups: Sequence[Group],
) -> RunInfo:
    """Write the run folder of a pass that is done. Raises RunnerError when it cannot be written."""
    top = pack([ranked(group.highest) for group in groups], corpus, settings.window)
    sections = {"top": top}
    if settings.complete:
        sections["negative"] = pack(_lowest(groups), corpus, settings.window)
        sections |= {f"band-{band}": pack(_band(groups, band), corpus, settings.window) for band in range(BANDS)}
    info = _info(subject, corpus, folder.resolve().name, settings, documents_N)
    vocabulary = Vocabulary(corpus.token_bytes_flat, corpus.token_offsets)
    return write_run(folder, info, _units(groups, top, settings), sections, vocabulary, _spread(groups))


def _lowest(groups: Sequence[Group]) -> list[Shown]:
    return [ranked(group.lowest) for group in groups if group.lowest is not None]


def _band(groups: Sequence[Group], band: int) -> list[Shown]:
    """The band of every group; a dead or broken unit has none."""
    parts = []
    for group in groups:
        if group.bands is not None and group.spread is not None:
            lists = cut(group.bands, group.spread.greatest_F, band, BAND_KEPT)
            alive_F = group.highest.finite_F & ~group.highest.constant_F
            parts.append(Shown(lists, (lists.document_FK >= 0) & alive_F[:, None], 1))
    return parts


def _spread(groups: Sequence[Group]) -> SpreadArrays | None:
    spreads = [group.spread for group in groups if group.spread is not None]
    if not spreads:
        return None
    return SpreadArrays(
        histogram=np.concatenate([histogram(spread) for spread in spreads]),
        histogram_edges=edges(),
        moments=np.concatenate([moments(spread) for spread in spreads]),
        band_edges=np.concatenate([band_edges(spread.greatest_F) for spread in spreads]),
    )


def _units(groups: Sequence[Group], top: SectionArrays, settings: CollectSettings) -> NDArray[np.void]:
    parts = []
    for group in groups:
        part = np.zeros(group.units, UNIT)
        part["layer"], part["kind"], part["index"] = group.layer, group.kind, np.arange(group.units)
        part["state"] = unit_states(group.highest, settings.kept)
        parts.append(part)
    units_U = np.concatenate(parts)
    units_U["snippets"] = np.diff(top.offsets)
    return units_U


def _info(
    subject: Subject, corpus: Corpus, name: str, settings: CollectSettings, documents_N: NDArray[np.int64]
) -> RunInfo:
    about, bos = subject.about, corpus.info.bos
    return RunInfo(
        name=name,
        condition=about.condition,
        size=about.size,
        seed=about.seed,
        layers=about.layers,
        hidden=about.hidden,
        validation_loss=about.validation_loss,
        train_tokens=about.train_tokens,
        checkpoint_digest=subject.digest,
        activation_point="only" if all(norm is None for norm in subject.model.norms) else "before_norm",
        corpus_digest=corpus.info.digest,
        tokenizer_digest=corpus.info.tokenizer_digest,
        split=settings.split,
        window=settings.window,
        kept=settings.kept,
        parts=list(settings.parts),
        exclusions=["the first position of every context", f"the special token {bos}", "padding"],
        sections=[],
        sources=_sources(corpus, settings.parts),
        specials=[bos],
        directions=settings.directions,
        directions_seed=settings.directions_seed if settings.directions else None,
        collected_documents=len(documents_N),
        collected_tokens=int(corpus.documents["length"][documents_N].sum(dtype=np.int64)),
        settings=settings.as_json(),
    )


def _sources(corpus: Corpus, parts: Sequence[str]) -> list[dict[str, Any]]:
    """The sources of these parts, as JSON keeps them."""
    used = [source for source in corpus.info.sources if set(source.parts) & set(parts)]
    return [{**asdict(source), "parts": [part for part in source.parts if part in parts]} for source in used]
