"""Collecting against TransformerLens: `run_with_cache`, the caches put together, and a top-K over them.

Time: the same blocks go through both in turns, in one process; ours writes its run folder as well. Theirs computes the
logits that `run_with_cache` gives back; how it does where it is told to stop before them is in the detail.
Memory: each in a process of its own, what it takes beyond the model that is already there. Their lists are worked out
from their cache with our rules, and ours must be the same.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.lens_peer import cached, differing, lens_model, require_lens, top_of
from benchmarks.material import Untrained, some_corpus, untrained_subject
from benchmarks.memory import PEAK, RESIDENT, forget_peak, memory_kib
from benchmarks.outcome import Outcome
from benchmarks.passes import collecting_seconds
from model_runner.collect.collected import write_collected
from model_runner.collect.config import CollectConfig, CollectSettings, settle_config
from model_runner.collect.contexts import Block, Contexts, cut_contexts, first_documents
from model_runner.collect.group import Group, new_groups, settle_groups
from model_runner.corpus.store import Corpus

NAME, TARGET, TARGET_MEMORY = "collect-vs-transformerlens", 2.0, 0.2
TOKENS, WIDTH, LAYERS, CONTEXT, KEPT = 262_144, 64, 2, 128, 20
ONE_THREAD_TOKENS = TOKENS // 4
TURN = 16
"""Blocks that go through one and then through the other."""


def measure() -> Outcome:
    """The ratio is their seconds to ours, the lower of all threads' and of one thread's.

    Ours gives each thread blocks of its own, theirs shares every product among the threads, which costs them much on a
    machine that does other work: one thread each tells the work apart from the waiting. `ok` wants our share of
    their memory, and the same lists, as well.

    Raises RunnerError where TransformerLens is not installed.
    """
    require_lens()
    timed, one_thread = _said("time"), _said("one-thread", OMP_NUM_THREADS="1")
    ours, theirs = _said("ours"), _said("theirs")
    ratios = [each["their_seconds"] / each["our_seconds"] for each in (timed, one_thread)]
    ratio, share = min(ratios), ours["extra_mib"] / theirs["extra_mib"]
    detail = {
        **timed,
        "ratio": round(ratios[0], 3),
        "ratio_on_one_thread": round(ratios[1], 3),
        "one_thread_ratio_to_them_without_logits": one_thread["ratio_to_them_without_logits"],
        "extra_mib": ours["extra_mib"],
        "their_extra_mib": theirs["extra_mib"],
        "memory_share": round(share, 4),
        "target_memory_share": TARGET_MEMORY,
    }
    ok = ratio >= TARGET and share <= TARGET_MEMORY and not timed["wrong_lists"]
    return Outcome(NAME, round(ratio, 3), TARGET, ok, detail)


def _said(what: str, **variables: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.collect_vs_transformerlens", what]
    environment = {**os.environ, **variables}
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout  # noqa: S603
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def _prepared(tokens: int = TOKENS) -> tuple[Untrained, Corpus, CollectSettings, Contexts]:
    corpus = some_corpus(tokens)
    subject = untrained_subject("solu_ln", corpus, width=WIDTH, layers=LAYERS, context=CONTEXT)
    settings = settle_config(CollectConfig(tokens=tokens, kept=KEPT, parts=corpus.info.parts), subject, corpus)
    documents_N = first_documents(corpus, corpus.in_split(settings.split, settings.parts), settings.tokens)
    return subject, corpus, settings, cut_contexts(corpus, documents_N, settings.window, settings.block)


def _time(tokens: int = TOKENS) -> dict[str, Any]:
    """Both over all blocks in turns, then what each does at the end."""
    subject, corpus, settings, contexts = _prepared(tokens)
    groups, theirs = new_groups(subject.model, subject.about.hidden, settings), lens_model(subject.model)
    blocks = [contexts.block(number) for number in contexts.numbers]
    parts: list[Tensor] = []
    ours, peer, lean = 0.0, 0.0, 0.0
    for first in range(0, len(blocks), TURN):
        numbers = contexts.numbers[first : first + TURN]
        ours += collecting_seconds(subject.model, contexts, numbers, groups)
        started = time.perf_counter()
        parts += [cached(theirs, torch.from_numpy(blocks[number].tokens_BT)) for number in numbers]
        peer += time.perf_counter() - started
        lean += _lean_seconds(theirs, [blocks[number] for number in numbers])
    started = time.perf_counter()
    _finish(subject, corpus, settings, contexts, groups)
    ours += time.perf_counter() - started
    started = time.perf_counter()
    acts_CTF, _ = top_of(parts, blocks, len(corpus.documents), KEPT)
    top = time.perf_counter() - started
    wrong, reordered = differing([group.highest.lists for group in groups], acts_CTF.numpy(), blocks, corpus)
    return {
        "our_seconds": round(ours, 2),
        "their_seconds": round(peer + top, 2),
        "ratio_to_them_without_logits": round((lean + top) / ours, 3),
        "tokens": int(corpus.documents["length"][contexts.documents_N].sum()),
        "units": acts_CTF.shape[2],
        "wrong_lists": wrong,
        "lists_in_another_order_of_ties": reordered,
        "threads": torch.get_num_threads(),
    }


def _finish(
    subject: Untrained, corpus: Corpus, settings: CollectSettings, contexts: Contexts, groups: list[Group]
) -> None:
    settle_groups(groups, -1)
    with tempfile.TemporaryDirectory() as folder:
        write_collected(subject, corpus, Path(folder, "run"), settings, contexts.documents_N, groups)


def _lean_seconds(theirs: Any, blocks: list[Block]) -> float:
    started = time.perf_counter()
    for block in blocks:
        cached(theirs, torch.from_numpy(block.tokens_BT), logits=False)
    return time.perf_counter() - started


def _memory_of_ours() -> dict[str, Any]:
    subject, corpus, settings, contexts = _prepared()
    list(subject.model.activations(torch.from_numpy(contexts.block(0).tokens_BT)))
    forget_peak()
    before = memory_kib(RESIDENT)
    groups = new_groups(subject.model, subject.about.hidden, settings)
    collecting_seconds(subject.model, contexts, contexts.numbers, groups)
    _finish(subject, corpus, settings, contexts, groups)
    return {"extra_mib": round((memory_kib(PEAK) - before) / 1024, 1)}


def _memory_of_theirs() -> dict[str, Any]:
    subject, corpus, _, contexts = _prepared()
    theirs = lens_model(subject.model)
    cached(theirs, torch.from_numpy(contexts.block(0).tokens_BT))
    forget_peak()
    before = memory_kib(RESIDENT)
    parts: list[Tensor] = []
    blocks: list[Block] = []
    for number in contexts.numbers:
        blocks.append(contexts.block(number))
        parts.append(cached(theirs, torch.from_numpy(blocks[-1].tokens_BT)))
    top_of(parts, blocks, len(corpus.documents), KEPT)
    return {"extra_mib": round((memory_kib(PEAK) - before) / 1024, 1)}


SIDES: dict[str, Callable[[], dict[str, Any]]] = {
    "time": _time,
    "one-thread": partial(_time, ONE_THREAD_TOKENS),
    "ours": _memory_of_ours,
    "theirs": _memory_of_theirs,
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(SIDES[sys.argv[1]]()) + "\n")
