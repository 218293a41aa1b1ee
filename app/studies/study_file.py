"""study.toml: what a study asks for, as a file that explains itself. Pure; reading what was written gives the same."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any

from app.errors import Invalid
from app.reports.statistics.plan import Plan
from app.studies.asked import USUAL_PLAN, Asked
from app.studies.design import Design
from app.words.said import N_, Quoted, Said

FORMAT = 1
LARGEST_FILE = 100_000
HEAD = """\
# What a study asks for. Draw and seal it with
#     glance study create --file study.toml
# or bring it to the page “New study”. A field that is left out has its usual value.
"""
ABOUT = {
    "format": "The version of this file's format.",
    "name": "What administrators call the study. Raters never see it.",
    "pilot": "A trial that is kept apart and never counted (usually false).",
    "runs": "The run folders to compare, one a model, over the split “collect”: paths, or names in the runs folder.\n"
    "Several models of one condition and size, trained with different seeds, are arms of their own. A run of\n"
    "the same model over the split “practice” or “check” serves the practice and the hypothesis check.",
}
GROUPS: Mapping[str, Mapping[str, str]] = {
    "What is rated": {
        "neurons_per_arm": "Neurons an arm, spread evenly over its layers. The paper had 60.",
        "snippets": "Snippets of every item.",
        "snippet_choice": '"top": the strongest firings, as in the paper. "spectrum": half of them, and the rest from\n'
        "bands of the whole range of activations (runs collected with --complete). It answers another question,\n"
        "and the two are never pooled.",
        "tokens": "Tokens of a snippet around its peak.",
        "wide_tokens": "The same once a rater widens it.",
        "rank_shaded_per_arm": "Neurons an arm, of those above, that are shaded by the rank of each activation and not "
        "by its level:\na check on what shading by level hides.",
    },
    "Who rates it": {
        "seats": "Raters, each with an order of items of their own.",
        "verdicts_per_neuron": "How many of them judge an ordinary neuron. More neurons bring more than more verdicts.",
        "overlap": "Neurons an arm, of those above, that more raters judge, so that raters can be compared.",
        "overlap_verdicts": "How many raters judge such a neuron; 0 is everybody.",
    },
    "Controls and repeats": {
        "mixed_per_arm": "Items an arm whose snippets come from as many different neurons: nobody should find a rule.",
        "directions_per_arm": "Items an arm that show a random direction among a layer's neurons\n"
        "(runs collected with --directions N).",
        "repeats_per_arm": "Neurons an arm that the same rater is shown a second time.",
        "repeat_distance": "Places between the two showings, at least.",
    },
    "Before and after": {
        "practice_items": "Items with feedback before the first rated one; 0 is none.",
        "check_snippets": "Held-out snippets on which raters say where a neuron fires that they called interpretable;\n"
        "0 is no such check.",
        "guesses": "Items that a rater sees again at the end, to guess the condition of each; 0 is none.",
        "unblinders": "How many persons it takes to unblind: 1 or 2.",
    },
    "What raters see": {
        "clock_seconds": "After how many seconds the soft clock turns.",
        "clock_end_seconds": "After how many it is full.",
        "instructions": "What raters read beside the rule, in your words. It must say nothing of the models.",
    },
}


PLAN: Mapping[str, str] = {
    "question": "What the study asks and what is expected, in your words.",
    "baseline": "The condition the others are compared with. Empty: gelu where it is there, else the first by name.",
    "cannot_decide": 'What “cannot decide” counts as: "no" (not interpretable, as in the paper), "yes" or "left_out".',
    "version": 'Which version of an edited verdict counts: "last" or "first".',
    "late_counts": "Whether a verdict counts that was given after its lease had run out.",
    "surplus_counts": "Whether one counts whose place had gone to somebody else meanwhile.",
    "opened_early_counts": "Whether items count that are opened before the study is.",
    "fewest_verdicts": "A rater with fewer verdicts on neurons is left out.",
    "most_false_positives": "A rater who calls a larger share of the controls interpretable is left out.",
    "least_seconds": "A verdict given in fewer seconds is left out.",
    "shuffle": 'Within what the permutation test shuffles conditions: "size" or "size_and_rater".',
    "correction": 'For several comparisons: "holm" (confirmatory) or "bh" (exploratory).',
    "alpha": "Two-sided level of tests; intervals cover the rest.",
    "resamples": "Draws of each bootstrap and permutation.",
}
"""The plan of the analysis, fixed and sealed with the draw."""


def write(asked: Asked) -> str:
    """The file of what is asked for, every field with a comment that says what it is."""
    return HEAD + "\n".join(_lines(asked)) + "\n"


def _lines(asked: Asked) -> Iterator[str]:
    top: dict[str, Any] = {"format": FORMAT, "name": asked.name, "pilot": asked.pilot, "runs": list(asked.runs)}
    for name, value in top.items():
        yield ""
        yield from _field(name, ABOUT[name], value)
    yield ""
    yield "[design]"
    usual = {field.name: field.default for field in fields(Design)}
    for group, abouts in GROUPS.items():
        yield f"\n# ---- {group}"
        for name, about in abouts.items():
            yield ""
            yield from _field(name, f"{about} Usually {_spelled(usual[name])}.", getattr(asked.design, name))
    yield "\n# How it will be analysed: fixed and sealed with the draw."
    yield "[plan]"
    for name, about in PLAN.items():
        yield ""
        yield from _field(name, f"{about} Usually {_spelled(getattr(USUAL_PLAN, name))}.", getattr(asked.plan, name))


def _field(name: str, about: str, value: Any) -> Iterator[str]:
    yield from (f"# {line}" for line in about.split("\n"))
    yield f"{name} = {_spelled(value)}"


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return "[" + "".join(f"\n    {_text(one)}," for one in value) + ("\n" if value else "") + "]"
    if "\n" in value:
        lines = "\n".join(_text(line)[1:-1] for line in value.split("\n"))
        return f'"""\n{lines}"""'
    return _text(value)


def _text(text: str) -> str:
    """A basic string of TOML: JSON's, and one control character that JSON leaves as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


# ---- reading ------------------------------------------------------------------------------------


def read(text: str, name: str = "study.toml") -> Asked:
    """Raises Invalid with a sentence that names the key, its value and what to write instead."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(
            N_("%(file)s is not a TOML file: %(why)s. `glance study template` writes one to begin with."),
            file=name, why=Quoted(str(error)),
        ) from None  # fmt: skip
    design, plan = (_table(name, key, values) for key in ("design", "plan"))
    _only_known(name, "", values, ABOUT)
    if values.get("format", FORMAT) != FORMAT:
        raise Invalid(
            N_("In %(file)s, format is %(value)s, and this program reads format %(known)s."),
            file=name, value=repr(values["format"]), known=FORMAT,
        )  # fmt: skip
    usual = {field.name: field.default for field in fields(Design)}
    _only_known(name, "design.", design, usual)
    for key, value in design.items():
        _of_type(name, f"design.{key}", value, usual[key])
    _only_known(name, "plan.", plan, PLAN)
    for key, value in plan.items():
        _of_type(name, f"plan.{key}", value, getattr(USUAL_PLAN, key))
    for key, kind in {"name": "", "pilot": False}.items():
        _of_type(name, key, values.get(key, kind), kind)
    return Asked(
        name=values.get("name", ""),
        pilot=values.get("pilot", False),
        runs=_runs(name, values.get("runs", [])),
        design=_design(name, design),
        plan=_plan(name, plan),
    )


def _table(file: str, key: str, values: dict[str, Any]) -> dict[str, Any]:
    table = values.pop(key, {})
    if not isinstance(table, dict):
        raise Invalid(
            N_("In %(file)s, %(key)s is %(value)s. Make it a table: a line [%(key)s], and its fields below."),
            file=file, key=key, value=repr(table),
        )  # fmt: skip
    return table


def _only_known(file: str, where: str, values: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if key not in known:
            near = get_close_matches(key, known, 1)
            raise Invalid(
                N_("In %(file)s, there is no field %(field)s (it is %(value)s there). %(remedy)s"),
                file=file, field=f"{where}{key}", value=repr(value),
                remedy=Said(N_("Did you mean %(name)s?"), name=near[0])
                if near
                else Said(N_("Remove it; known are %(those)s."), those=", ".join(known)),
            )  # fmt: skip


TYPES = {int: N_("a whole number"), float: N_("a number"), bool: N_("true or false"), str: N_("a text in quotes")}


def _of_type(file: str, key: str, value: Any, usual: Any) -> None:
    if type(value) is not type(usual) and not (isinstance(usual, float) and type(value) is int):
        example = _spelled(usual) if usual != "" else '"…"'
        raise Invalid(
            N_("In %(file)s, %(key)s is %(value)s. It must be %(what)s, as in %(example)s."),
            file=file, key=key, value=repr(value), what=Said(TYPES[type(usual)]),
            example=f"{key.split('.')[-1]} = {example}",
        )  # fmt: skip


def _runs(file: str, runs: Any) -> tuple[str, ...]:
    if not isinstance(runs, list) or not all(isinstance(run, str) for run in runs):
        raise Invalid(
            N_("In %(file)s, runs is %(value)s. It must be a list of folders, as in runs = [\"gelu\", \"solu_ln\"]."),
            file=file, value=repr(runs),
        )  # fmt: skip
    return tuple(runs)


def _design(file: str, values: dict[str, Any]) -> Design:
    try:
        return Design.of(values)
    except Invalid as error:
        raise Invalid(
            N_("In %(file)s, the design does not hold together: %(why)s"), file=file, why=error.said
        ) from None


def _plan(file: str, values: dict[str, Any]) -> Plan:
    numbers = {name: float(value) for name, value in values.items() if isinstance(getattr(USUAL_PLAN, name), float)}
    try:
        return replace(USUAL_PLAN, **{**values, **numbers})
    except ValueError as error:
        raise Invalid(
            N_("In %(file)s, the plan does not hold together: %(why)s"), file=file, why=error.args[0]
        ) from None
