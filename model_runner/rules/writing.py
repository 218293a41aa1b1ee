"""Finding the rules of a whole run and writing them into its folder."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.files import write_json
from model_runner.progress import progress
from model_runner.rules.battery import make_battery
from model_runner.rules.grammar import kind_of
from model_runner.rules.hypothesis import sentence
from model_runner.rules.search import COVER, MOST_COMMON, MOST_TOKENS, Search
from model_runner.rules.sites import peaks, sample, vocabulary_of
from model_runner.run.arrays import STATES
from model_runner.run.folder import Run
from model_runner.run.rules import RULES_NAME, RunRules, UnitRule, as_json, rules_digest

SECTION = "top"


@dataclass(frozen=True, kw_only=True)
class RuleSettings:
    """What the rules of a run depend on, besides the run and the corpus."""

    cover: float = COVER
    most_common: float = MOST_COMMON
    most_tokens: int = MOST_TOKENS
    sample_tokens: int = 200_000
    seed: int = 0


def write_rules(run: Run, corpus: Corpus, settings: RuleSettings) -> RunRules:
    """Find the simplest rule of every unit that can be shown, and write them; whole or not at all.

    Raises RunnerError where the corpus is not the run's.
    """
    insist_on_same(run, corpus)
    rules = RunRules(run_digest=run.info.digest, settings=asdict(settings), units=list(_judged(run, corpus, settings)))
    rules = replace(rules, digest=rules_digest(as_json(rules)))
    write_json(run.folder / RULES_NAME, as_json(rules))
    return rules


def _judged(run: Run, corpus: Corpus, settings: RuleSettings) -> Iterator[UnitRule]:
    info = run.info
    sites = sample(corpus, corpus.in_split(info.split, info.parts), info.window, settings.sample_tokens, settings.seed)
    search = Search(
        make_battery(vocabulary_of(corpus), sites),
        cover=settings.cover, most_common=settings.most_common, most_tokens=settings.most_tokens,
    )  # fmt: skip
    units = np.flatnonzero(run.units["state"] == STATES.index("ok")).tolist()
    with progress(f"Rules of {info.name}", len(units), "units") as bar:
        for unit in units:
            found = search.simplest(peaks(run.snippets(SECTION, unit)))
            yield UnitRule(
                unit=unit,
                verdict="INTERPRETABLE" if found.enough else "NOT_INTERPRETABLE",
                rule=str(found.rule) if found.rule else "",
                kind=kind_of(found.rule) if found.rule else "none",
                covered=found.covered,
                of=found.of,
                base_rate=found.base_rate,
                hypothesis=sentence(found.rule) if found.rule and found.enough else "",
            )
            bar.advance()


def insist_on_same(run: Run, corpus: Corpus) -> None:
    """Raise RunnerError where the run was collected over another corpus, or has no peaks."""
    if run.info.corpus_digest != corpus.info.digest:
        raise RunnerError(
            f"{run.folder} was collected over the corpus {run.info.corpus_digest[:12]}, and {corpus.folder} is "
            f"{corpus.info.digest[:12]}. Give the corpus that the run was collected over."
        )
    if SECTION not in run.info.sections:
        raise RunnerError(f"{run.folder} has no section {SECTION}, so it has no peaks to explain.")


def finished(folder: Path, run: Run, settings: RuleSettings) -> RunRules | None:
    """The rules that an earlier call wrote with the same settings. Other settings, or another run: None."""
    rules = run.rules() if (folder / RULES_NAME).exists() else None
    return rules if rules is not None and rules.settings == asdict(settings) else None
