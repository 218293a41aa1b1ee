"""The methods paragraph, with every number filled in from the study. Pure."""

from typing import TYPE_CHECKING

from app.reports.names import condition_name, percent, size_name
from app.reports.words import counted, listed, seconds, thousands

if TYPE_CHECKING:
    from app.reports.report import Report

COUNTS_AS = {
    "no": "counted as not interpretable",
    "yes": "counted as interpretable",
    "left_out": "was left out",
}


def methods(report: "Report") -> str:
    """Sentences a paper can take over: models, neurons, what raters saw, verdicts, estimates."""
    parts = [_models(report), _neurons(report), _shown(report), _verdicts(report), _answers(report)]
    return " ".join(part for part in (*parts, *_estimates(report)) if part)


def _models(report: "Report") -> str:
    arms = report.study.arms
    conditions = [condition_name(name) for name in dict.fromkeys(arm.condition for arm in arms)]
    sizes = sorted({arm.size for arm in arms})
    tokens = sorted({arm.train_tokens for arm in arms})
    at = f"of {size_name(sizes[0])}" if len(sizes) == 1 else f"of {size_name(sizes[0])} to {size_name(sizes[-1])}"
    trained = thousands(tokens[0]) if len(tokens) == 1 else f"{thousands(tokens[0])} to {thousands(tokens[-1])}"
    # An imported model's training tokens are 0 where nobody said them.
    training = f", trained on {trained} tokens" if tokens[0] else ""
    return f"We compared {counted(len(arms), 'model')} {at} non-embedding parameters, {listed(conditions)}{training}."


def _neurons(report: "Report") -> str:
    design = report.study.design
    drawn = f"From each, {counted(design['neurons_per_arm'], 'neuron')} were drawn at random, evenly over its layers"
    if replaced := sum(report.flow.replaced.values()):
        drawn += f"; {counted(replaced, 'neuron')} that could not be shown were replaced by one rule in all arms"
    return f"{drawn}."


def _shown(report: "Report") -> str:
    return (
        f"For each neuron raters saw the {report.study.design['snippets']} contexts in which it fired most strongly, "
        "one a document, near-duplicates collapsed, shaded in 16 steps of its own maximum, read before the LayerNorm "
        "that follows the activation, where there is one."
    )


def _verdicts(report: "Report") -> str:
    design, found = report.study.design, report.found
    if found is None:
        return ""
    who = "Simulated raters" if report.simulated else "Raters"
    each = design["verdicts_per_neuron"]
    often = f"{each} a neuron" if each > 1 else "one a neuron"
    if overlap := design.get("overlap", 0):
        often += f" and {design.get('overlap_verdicts') or design['seats']} for {overlap} neurons of each arm"
    analysis = found.analysis
    return (
        f"{who} who did not know the model ({analysis.raters} in all) gave {counted(analysis.verdicts, 'verdict')}, "
        f"{often} by design, in an order drawn for each rater. “Interpretable” meant that one rule or category "
        "explained at least 80\u00a0% of the strongest firings."
    )


def _answers(report: "Report") -> str:
    plan, controls = report.plan, report.flow.verdicts_on_controls
    said = f"“Cannot decide” {COUNTS_AS[plan.cannot_decide]}; of an edited verdict the {plan.version} version counted."
    median = report.found.analysis.times[0].median_seconds.value if report.found else None
    if median is not None:
        said += f" The median time of a verdict was {seconds(median)}."
    if controls:
        said += f" {counted(controls, 'verdict')} on controls enter no fraction."
    return said


def _estimates(report: "Report") -> list[str]:
    plan = report.plan
    if report.found is None:
        return []
    return [
        "An arm’s fraction is the mean over its neurons of the neuron’s mean verdict. The primary estimate is the "
        f"difference of these fractions from that of {condition_name(plan.baseline)}, averaged over sizes both have, "
        f"with a {percent(plan.level)} interval from a bootstrap over neurons ({thousands(plan.resamples)} draws), "
        "and beside it one from a bootstrap over neurons and raters.",
        "The primary test is a permutation test: labels of condition shuffled among neurons within "
        f"{plan.shuffle.replace('_', ' ')} {thousands(plan.resamples)} times, each verdict relative to its rater’s "
        "mean, two-sided, "
        f"α\u00a0=\u00a0{plan.alpha:g}, one look.",
        "The plan was fixed and the allocation sealed before the first verdict.",
        "Each condition and size is one trained model, so what is said holds for these models."
        if len({(arm.condition, arm.size) for arm in report.study.arms}) == len(report.study.arms)
        else "Replicate models of one condition and size are averaged, and resampled like neurons.",
    ]
