"""What `glance-runner rules` does."""

import argparse
import sys
from collections import Counter
from pathlib import Path

from model_runner.corpus.store import open_corpus
from model_runner.errors import RunnerError
from model_runner.rules.writing import RuleSettings, finished, insist_on_same, write_rules
from model_runner.run.error import RunFolderError
from model_runner.run.folder import Run, open_run, refuse_change
from model_runner.run.rules import RULES_NAME, RunRules
from model_runner.words import counted


def run(options: argparse.Namespace) -> None:
    """Find the rules of every run that was named, and say what came of it. Rules that are there already are kept.

    Raises RunnerError, before the first run is looked at, where one was collected over another corpus.
    """
    settings, corpus = RuleSettings(), open_corpus(options.corpus)
    runs = [_open(folder) for folder in options.run]
    for opened in runs:
        insist_on_same(opened, corpus)
    for opened in runs:
        rules = None if options.again else _kept(opened, settings)
        _say(opened, rules or write_rules(opened, corpus, settings))


def _open(folder: Path) -> Run:
    try:
        opened = open_run(folder)
        # Most of it is read in any case, and an array that was written over would end in nonsense.
        refuse_change(folder)
    except RunFolderError as error:
        raise RunnerError(str(error)) from None
    return opened


def _kept(opened: Run, settings: RuleSettings) -> RunRules | None:
    try:
        return finished(opened.folder, opened, settings)
    except RunFolderError as error:
        raise RunnerError(f"{error} Or give --again.") from None


def _say(opened: Run, rules: RunRules) -> None:
    yes = [unit for unit in rules.units if unit.verdict == "INTERPRETABLE"]
    kinds = Counter(unit.kind for unit in yes)
    said = ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common())
    share = f"{rules.fraction:.1%}" if rules.fraction is not None else "none"
    sys.stdout.write(
        f"{opened.info.name}: a rule for {len(yes):,} of {counted(len(rules.units), 'unit')} ({share}). "
        f"By kind: {said or 'none'}.\nThey are in {opened.folder / RULES_NAME}.\n"
    )
