"""What `glance-runner scaling` does. The last line on standard output is JSON."""

import argparse
import json
import sys

from model_runner.files import make_folder, write_atomically, write_json
from model_runner.progress import progress
from model_runner.scaling.comparison import compare
from model_runner.scaling.models import read_models
from model_runner.scaling.report import as_csv, as_object, rows, sentences


def run(options: argparse.Namespace) -> None:
    """Compare a ladder: print what it shows, and write figures and data into a folder."""
    # Drawing loads two large libraries.
    from model_runner.scaling.drawing import png, svg
    from model_runner.scaling.figures import loss_figure, multiplier_figure, training_rows

    with progress("Comparing", 3, "steps") as bar:
        models = read_models(options.checkpoints)
        bar.advance()
        comparison = compare(models, options.baseline, options.law, options.seed)
        bar.advance()
        make_folder(options.out)
        for name, figure in (("loss", loss_figure(models, comparison)), ("multiplier", multiplier_figure(comparison))):
            write_atomically(options.out / f"{name}.svg", svg(figure))
            write_atomically(options.out / f"{name}.png", png(figure))
        bar.advance()
    write_atomically(options.out / "scaling.csv", as_csv(rows(models, comparison)))
    write_atomically(options.out / "training.csv", as_csv(training_rows(comparison)))
    whole = as_object(models, comparison)
    write_json(options.out / "scaling.json", whole)
    said = "\n".join(sentences(comparison))
    sys.stdout.write(f"{said}\nFigures and data are in {options.out}.\n{json.dumps(whole)}\n")
