"""What `glance-runner collect` does."""

import argparse
import os
import sys
from collections import Counter

from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig
from model_runner.corpus.store import open_corpus
from model_runner.errors import RunnerError
from model_runner.memory import share_one_pool
from model_runner.run.arrays import STATES
from model_runner.run.error import RunFolderError
from model_runner.run.folder import open_run
from model_runner.run.info import INFO_NAME
from model_runner.subject import load_subject
from model_runner.words import counted


def run(options: argparse.Namespace) -> None:
    """Collect as the options say, and say what came of it."""
    share_one_pool()  # before the first threads: those that have a pool keep it
    config = CollectConfig(
        split=options.split,
        parts=tuple(options.parts) if options.parts else None,
        kept=options.kept,
        window=options.window,
        tokens=options.tokens,
        block=options.block,
        complete=options.complete,
        directions=options.directions,
        directions_seed=options.directions_seed,
        device=options.device,
    )
    info = collect(load_subject(options.checkpoint), open_corpus(options.corpus), options.out, config)
    # Of the processes that torchrun started, only the first speaks.
    if os.environ.get("RANK", "0") != "0":
        return
    try:
        # A finished folder is reused after a look at its headers alone.
        run_folder = open_run(options.out, every_byte=options.check)
    except RunFolderError as error:
        raise RunnerError(f"{error} Delete {options.out / INFO_NAME} first.") from error
    states = Counter(STATES[state] for state in run_folder.units["state"])
    said = ", ".join(f"{count:,} {state}" for state, count in states.most_common())
    sys.stdout.write(
        f"{counted(sum(states.values()), 'unit')} over {counted(info.collected_tokens, 'token')} of "
        f"{counted(info.collected_documents, 'document')}: {said}.\nDigest {info.digest}.\nIt is in {options.out}.\n"
    )
