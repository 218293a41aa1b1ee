"""The methods paragraph, with every number filled in from the study, in the reader's language. Pure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.reports.names import condition_name, percent, size_name
from app.reports.words import Words
from app.words.language import N_

if TYPE_CHECKING:
    from app.reports.report import Report

COUNTS_AS = {
    "no": N_("“Cannot decide” counted as not interpretable."),
    "yes": N_("“Cannot decide” counted as interpretable."),
    "left_out": N_("“Cannot decide” was left out."),
}
VERSIONS = {
    "last": N_("Of an edited verdict the last version counted."),
    "first": N_("Of an edited verdict the first version counted."),
}
SHUFFLES = {"size": N_("size"), "size_and_rater": N_("size and rater")}


def methods(report: "Report", words: Words) -> str:
    """Sentences a paper can take over: models, neurons, what raters saw, verdicts, estimates."""
    parts = (_models, _neurons, _shown, _phases, _verdicts, _answers, _exclusions, _estimates)
    space = "" if words.language.code == "zh-Hans" else " "
    return space.join(sentence for part in parts for sentence in part(report, words))


def _models(report: "Report", words: Words) -> Iterator[str]:
    arms, _ = report.study.arms, words._
    conditions = [condition_name(name) for name in dict.fromkeys(arm.condition for arm in arms)]
    sizes = [size_name(size) for size in sorted({arm.size for arm in arms})]
    tokens = [words.thousands(n) for n in sorted({arm.train_tokens for arm in arms})]
    yield _(N_("We compared %(models)s of %(size)s non-embedding parameters: %(conditions)s.")) % {
        "models": words.counted(len(arms), "model"),
        "size": _span(sizes, words),
        "conditions": words.listed(conditions),
    }
    if tokens[0] != "0":  # an imported model's training tokens are 0 where nobody said them
        yield _(N_("They were trained on %(tokens)s tokens.")) % {"tokens": _span(tokens, words)}


def _span(values: list[str], words: Words) -> str:
    if len(values) == 1:
        return values[0]
    return words._(N_("%(low)s to %(high)s")) % {"low": values[0], "high": values[-1]}


def _neurons(report: "Report", words: Words) -> Iterator[str]:
    design, _ = report.study.design, words._
    yield _(N_("From each, %(neurons)s were drawn at random, evenly over its layers.")) % {
        "neurons": words.counted(design["neurons_per_arm"], "neuron")
    }
    if replaced := sum(report.flow.replaced.values()):
        yield _(N_("%(neurons)s that could not be shown were replaced by one rule in all arms.")) % {
            "neurons": words.counted(replaced, "neuron")
        }


def _shown(report: "Report", words: Words) -> Iterator[str]:
    design, _ = report.study.design, words._
    if design.get("snippet_choice", "top") == "spectrum":
        yield _(
            N_(
                "For each neuron raters saw %(n)s contexts across its range of firing, half of them the strongest, one "
                "a document, near-duplicates collapsed."
            )
        ) % {"n": design["snippets"]}
    else:
        yield _(
            N_(
                "For each neuron raters saw the %(n)s contexts in which it fired most strongly, one a document, "
                "near-duplicates collapsed."
            )
        ) % {"n": design["snippets"]}
    yield _(
        N_(
            "They were shaded in 16 steps of the neuron’s own maximum, read before the LayerNorm that follows the "
            "activation, where there is one."
        )
    )
    if ranked := design.get("rank_shaded_per_arm", 0):
        yield _(N_("%(n)s neurons of each arm, drawn at random, were shaded by rank instead.")) % {"n": ranked}


def _phases(report: "Report", words: Words) -> Iterator[str]:
    design, _ = report.study.design, words._
    if practice := design.get("practice_items", 0):
        yield _(N_("Raters first judged %(n)s practice items with feedback, which no arm uses for rated items.")) % {
            "n": practice
        }
    if check := design.get("check_snippets", 0):
        yield _(
            N_(
                "For neurons they called interpretable, raters said of %(n)s held-out snippets without shading where "
                "the neuron fires."
            )
        ) % {"n": check}
    if guesses := design.get("guesses", 0):
        yield _(N_("At the end each rater guessed the condition of %(n)s neurons they had rated.")) % {"n": guesses}


def _verdicts(report: "Report", words: Words) -> Iterator[str]:
    design, found, _ = report.study.design, report.found, words._
    if found is None:
        return
    who = _(N_("Simulated raters")) if report.simulated else _(N_("Raters"))
    yield _(
        N_(
            "%(who)s who did not know the model (%(raters)s in all) gave %(verdicts)s, %(each)s a neuron by design, in "
            "an order drawn for each rater."
        )
    ) % {
        "who": who,
        "raters": found.analysis.raters,
        "verdicts": words.counted(found.analysis.verdicts, "verdict"),
        "each": design["verdicts_per_neuron"],
    }
    if overlap := design.get("overlap", 0):
        yield _(N_("%(n)s neurons of each arm were judged by %(raters)s raters.")) % {
            "n": overlap,
            "raters": design.get("overlap_verdicts") or design["seats"],
        }
    yield (
        _(N_("“Interpretable” meant that one rule or category explained at least 80\u00a0%% of the strongest firings."))
        % {}
    )


def _answers(report: "Report", words: Words) -> Iterator[str]:
    plan, controls, _ = report.plan, report.flow.verdicts_on_controls, words._
    yield _(COUNTS_AS[plan.cannot_decide])
    yield _(VERSIONS[plan.version])
    median = report.found.analysis.times[0].median_seconds.value if report.found else None
    if median is not None:
        yield _(N_("The median time of a verdict was %(time)s.")) % {"time": words.seconds(median)}
    if controls:
        yield _(N_("%(verdicts)s on controls enter no fraction.")) % {"verdicts": words.counted(controls, "verdict")}


def _exclusions(report: "Report", words: Words) -> Iterator[str]:
    plan, _ = report.plan, words._
    if plan.fewest_verdicts:
        yield _(N_("Raters with fewer than %(n)s verdicts were left out.")) % {"n": plan.fewest_verdicts}
    if plan.most_false_positives < 1:
        yield _(N_("Raters who called more than %(share)s of the controls interpretable were left out.")) % {
            "share": percent(plan.most_false_positives)
        }
    if plan.least_seconds:
        yield _(N_("Verdicts given in less than %(n)s\u00a0s were left out.")) % {"n": f"{plan.least_seconds:g}"}
    if report.opened_early and not plan.opened_early_counts:
        yield _(N_("%(items)s opened before unblinding were left out.")) % {
            "items": words.counted(len(report.opened_early), "item")
        }


def _estimates(report: "Report", words: Words) -> Iterator[str]:
    plan, _ = report.plan, words._
    if report.found is None:
        return
    draws = words.thousands(plan.resamples)
    yield _(N_("An arm’s fraction is the mean over its neurons of the neuron’s mean verdict."))
    yield _(
        N_(
            "The primary estimate is the difference of these fractions from that of %(baseline)s, averaged over sizes "
            "both have, with a %(level)s interval from a bootstrap over neurons (%(draws)s draws), and beside it one "
            "from a bootstrap over neurons and raters."
        )
    ) % {"baseline": condition_name(plan.baseline), "level": percent(plan.level), "draws": draws}
    yield _(
        N_(
            "The primary test is a permutation test: labels of condition shuffled among neurons within %(within)s "
            "%(draws)s times, each verdict relative to its rater’s mean, two-sided, α\u00a0=\u00a0%(alpha)s, one look."
        )
    ) % {"within": _(SHUFFLES[plan.shuffle]), "draws": draws, "alpha": f"{plan.alpha:g}"}
    yield _(N_("The plan was fixed and the allocation sealed before the first verdict."))
    if report.amended:
        yield _(N_("The plan was amended %(n)s times before unblinding.")) % {"n": len(report.amended.made)}
    arms = report.study.arms
    if len({(arm.condition, arm.size) for arm in arms}) == len(arms):
        yield _(N_("Each condition and size is one trained model, so what is said holds for these models."))
    else:
        yield _(N_("Replicate models of one condition and size are averaged, and resampled like neurons."))
