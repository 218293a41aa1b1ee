"""Designs on the command line: `glance study template`, `study file`, the options of `study create`, and `power`."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import Invalid
from app.settings import Settings
from app.studies.asked import TEMPLATES, Asked
from app.studies.study_file import read, write

if TYPE_CHECKING:
    from app.reports.planning import Question
    from app.reports.statistics.estimate import Estimate

Options = argparse.Namespace
NUMBERS = (
    ("neurons", "neurons_per_arm", "neurons an arm"),
    ("snippets", "snippets", "snippets an item"),
    ("raters", "seats", "places for raters"),
    ("verdicts", "verdicts_per_neuron", "raters a neuron"),
    ("overlap", "overlap", "neurons an arm that more raters judge"),
    ("overlap-verdicts", "overlap_verdicts", "raters an overlap neuron; 0 is all"),
    ("mixed", "mixed_per_arm", "controls an arm with snippets of different neurons"),
    ("directions", "directions_per_arm", "controls an arm that show a random direction"),
    ("repeats", "repeats_per_arm", "neurons an arm that are shown twice"),
    ("repeat-distance", "repeat_distance", "places between both showings"),
    ("rank-shaded", "rank_shaded_per_arm", "neurons an arm that are shaded by rank"),
    ("practice", "practice_items", "items with feedback before the first rated one"),
    ("check", "check_snippets", "held-out snippets of the hypothesis check"),
    ("guesses", "guesses", "items whose condition is guessed at the end"),
    ("unblinders", "unblinders", "persons it takes to unblind"),
)
"""Options of the command line, the fields of a design they set, and what they say."""
POWER: tuple[tuple[str, type, str], ...] = (
    ("baseline", float, "interpretable fraction of the baseline"),
    ("other", float, "of the other condition"),
    ("neurons", int, "neurons an arm"),
    ("raters", int, "raters"),
    ("verdicts", int, "verdicts a neuron"),
    ("sizes", int, "pairs of arms of one size"),
    ("neuron_sd", float, "standard deviation between neurons, on the logit scale"),
    ("rater_sd", float, "between raters"),
    ("rater_arm_sd", float, "of raters with conditions"),
    ("studies", int, "simulated studies a design; 0 for the formula alone"),
    ("seed", int, "of the simulation"),
)
"""Options of `glance power`, which are the fields of the question."""


def asked_for(options: Options, settings: Settings) -> Asked:
    """What the command line asks for: the file, if there is one, and what is said beside it."""
    asked = _read(options.file) if options.file else Asked()
    given = {field: getattr(options, field) for _, field, _ in NUMBERS if getattr(options, field) is not None}
    if options.snippet_choice:
        given["snippet_choice"] = options.snippet_choice
    runs = tuple(map(str, options.run)) if options.run else _found(asked.runs, options.file, settings)
    if not runs:
        raise Invalid("Which runs? Give --run twice or more, or write them into the file of --file.")
    return replace(
        asked,
        name=options.name or asked.name,
        pilot=options.pilot or asked.pilot,
        runs=runs,
        design=replace(asked.design, **given),
    )


def _read(path: Path) -> Asked:
    try:
        return read(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} cannot be read: {error}.") from None


def _found(runs: tuple[str, ...], file: Path | None, settings: Settings) -> tuple[str, ...]:
    """Each run as it is written, or beside the file, or in the folder of runs: the first that there is."""
    places = (Path(), file.parent if file else Path(), settings.runs_dir)
    return tuple(str(next((place / run for place in places if (place / run).is_dir()), Path(run))) for run in runs)


def power(options: Options) -> None:
    """What a design can tell: the formula's sentences and table, then the simulation, a line a design."""
    from app.commands.terminal import say
    from app.reports.planning import Question, detectable, needed

    question = Question(**{name: getattr(options, name) for name, *_ in POWER})
    low = f"{question.baseline:.0%}"
    for goal, difference in detectable(question):
        if difference is None:
            say(
                f"However large a difference from {low} is, this design does not detect it with {goal:.0%} probability."
            )
        else:
            told = f"a difference of {difference:.3f} ({low} against {question.baseline + difference:.0%})"
            say(f"This design detects {told} with {goal:.0%} probability.")
    say(f"\nNeurons of each condition that {low} against {question.other:.0%} needs, by formula:")
    for row in needed(question):
        numbers = ", ".join(f"{one.neurons} for {one.power:.0%}" for one in row)
        say(f"  verdicts a neuron {row[0].verdicts}: {numbers} (design effect {row[0].design_effect:.2f})")
    if options.studies:
        _simulate(question, options.figure)


def _simulate(question: "Question", figure: Path | None) -> None:
    from rich.console import Console
    from rich.progress import track

    from app.commands.terminal import say
    from app.reports.planning import points, simulated

    designs = points(question)
    work = (
        2 * max(design.neurons for design in designs) * question.sizes * question.studies
    )  # as many as were asked for
    rows = simulated(question, work)
    if sys.stderr.isatty():
        rows = iter(track(rows, "Simulating", len(designs), console=Console(stderr=True), transient=True))
    say(f"\nShare of simulated studies that tell the two apart (seed {question.seed}):")
    say("  neurons  studies  test rejects        for these raters    for raters like these  formula")
    found = []
    for row in rows:
        found.append(row)
        shares = "".join(f"{_share(one):<20}" for one in (row.permutation, row.neurons, row.raters))
        say(f"  {row.design.neurons:>7}  {row.permutation.n:>7}  {shares}   {row.formula:.0%}")
        sys.stdout.flush()
    if figure:
        from app.reports.figures import power_figure, svg

        try:
            figure.write_text(svg(power_figure(found)), encoding="utf-8")
        except OSError as error:
            raise Invalid(f"{figure} could not be written: {error.strerror}. Give another --figure.") from None
        say(str(figure))


def _share(estimate: "Estimate") -> str:
    return f"{estimate.value:.0%} ({estimate.low:.0%} to {estimate.high:.0%})"


def template(options: Options) -> None:
    """A file to begin with, on standard output."""
    from app.commands.terminal import say

    say(write(TEMPLATES[options.template]).rstrip("\n"))


def study_file(options: Options) -> None:
    """The study.toml of a study that there is, to make another like it."""
    from app.commands.terminal import find_study, looking, say
    from app.studies.like import asked_of

    with looking() as (session, settings):
        asked = asked_of(session, settings, find_study(session, options.study))
    say(write(asked).rstrip("\n"))
