"""What `glance study template`, `glance study file` and the options of `glance study create` say of a design."""

import argparse
from dataclasses import replace
from pathlib import Path

from app.errors import Invalid
from app.settings import Settings
from app.studies.asked import TEMPLATES, Asked
from app.studies.design import Design
from app.studies.study_file import read, write

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


def template(options: Options) -> None:
    """A file to begin with, on standard output."""
    from app.commands import say

    say(write(TEMPLATES[options.template]).rstrip("\n"))


def study_file(options: Options) -> None:
    """The study.toml of a study that there is, to make another like it."""
    from app.commands import find_study, say, writing

    with writing() as (session, _):
        study = find_study(session, options.study)
        asked = Asked(
            name=study.name,
            pilot=study.pilot,
            runs=tuple(sorted(arm.run_path for arm in study.arms)),
            design=Design.of(study.design),
        )
    say(write(asked).rstrip("\n"))
