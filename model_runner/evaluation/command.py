"""What `glance-runner evaluate` does. The last line on standard output is JSON."""

import argparse
import dataclasses
import json
import sys

from model_runner.checkpoint import load_checkpoint
from model_runner.corpus.store import open_corpus
from model_runner.evaluation.evaluation import evaluate, save_evaluation
from model_runner.threads import use_threads


def run(options: argparse.Namespace) -> None:
    """Print the held-out loss and bits per byte of a finished checkpoint, and keep them where that is asked."""
    checkpoint = load_checkpoint(options.checkpoint)
    use_threads(options.threads)
    evaluation, rows = evaluate(checkpoint, open_corpus(options.corpus), options.tokens)
    # Said first: where it cannot be kept, it is not lost as well.
    sys.stdout.write(f"{evaluation.sentence}\n{json.dumps(dataclasses.asdict(evaluation))}\n")
    if options.save:
        save_evaluation(options.checkpoint, evaluation, rows)
