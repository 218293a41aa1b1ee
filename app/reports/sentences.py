"""What the statistics say in words, for translation: they know no language, and fill their numbers in themselves."""

import re
from functools import cache

from app.words.language import N_, Language

SENTENCES = (
    N_(
        "In the stratum of size %(n)s a row or a column of the table is empty, so it cannot be part of a stratified "
        "test."
    ),
    N_(
        "In the stratum of rater %(n)s a row or a column of the table is empty, so it cannot be part of a stratified "
        "test."
    ),
    N_("It needs exactly one verdict for each neuron; here some neurons have several."),
    N_("A condition has only one kind of verdict in every stratum, so the odds ratio is unbounded."),
    N_("There is a single stratum, so there is nothing to compare across strata."),
    N_("Mantel-Haenszel common odds ratio, Robins-Breslow-Greenland interval"),
    N_("Cochran-Mantel-Haenszel test without continuity correction"),
    N_("Breslow-Day test of equal odds ratios with Tarone's correction, sizes"),
    N_("Breslow-Day test of equal odds ratios with Tarone's correction, raters"),
    N_("The two conditions share no stratum."),
    N_("No neuron has two verdicts, so agreement cannot be measured."),
    N_("Every verdict is the same, so agreement beyond chance cannot be measured."),
    N_("A single neuron has two verdicts; an interval needs more."),
    N_("The plan compares with %(baseline)s, and no verdict on it counts: there is no comparison."),
    N_("SIMULATED: the raters are programs; no number here says anything about people or models."),
    N_("A single rater guessed, so raters cannot be resampled."),
    N_("Nobody guessed."),
    N_("There is a single condition, so there is nothing to guess."),
    N_("Every rater guessed like the others, so resampling raters shows no variation."),
    N_("All guesses about a condition are alike, so nothing varies and there is no interval."),
    N_("Only %(n)s raters guessed: resampling raters is unreliable below six."),
    N_("All named guesses or all neurons are of one condition."),
    N_("Too few raters guessed for an interval."),
    N_("It is shown for comparison, without an interval."),
    N_("Chance alone would give full agreement, so nothing is left to measure."),
    N_("All neurons of each arm got the same verdict, so resampling neurons shows no variation."),
    N_("One trained model an arm: this is about these models, not about the architecture."),
    N_("Replicate models of a condition and size are resampled too; with fewer than five this is unreliable."),
    N_("The baseline's fraction is 0 in many resamples, so the ratio has no upper bound."),
    N_("One of the two sides has no verdict."),
    N_("The baseline's fraction is 0, so there is no ratio."),
    N_("It is for a single size."),
    N_("A row or a column of the table is empty, so there is nothing to compare."),
    N_("With more than %(n)s neurons the exact test is slow and no better than the permutation test."),
    N_("Fisher's exact test, %(size)s"),
    N_("Boschloo's exact test, %(size)s"),
    N_("Barnard's exact test, %(size)s"),
    N_("At least %(least)s neurons in each condition are needed; there are %(one)s and %(other)s."),
    N_(
        "Only %(n)s raters: resampling raters is unreliable below six, and the interval is likely too narrow if they "
        "differ in how they treat the conditions."
    ),
    N_("With a single rater nothing can be said about raters like this one."),
    N_("Too few raters saw this: in more than a tenth of the resamples none of them was drawn."),
    N_("There is no verdict."),
    N_("No neuron of this arm has a counted verdict."),
    N_("Wilson interval"),
    N_("neuron bootstrap, percentile interval"),
    N_("All neurons got the same verdict, so resampling shows nothing; Wilson over neurons."),
    N_("A single neuron was checked, so neurons cannot be resampled."),
    N_("No neuron was checked."),
    N_("No neuron of one of the two conditions was checked."),
    N_("GEE, logit, independence within neuron, fixed effects of size and rater"),
    N_("GEE, logit, exchangeable within neuron, fixed effects of size and rater"),
    N_("It clusters on neurons and needs %(least)s of them; there are %(n)s."),
    N_("It has a term for every rater, which fits at most %(most)s of them; there are %(n)s."),
    N_("All verdicts of one group are alike, so its effect is unbounded and the model cannot be fitted."),
    N_("The fit did not converge."),
    N_("The terms cannot be told apart: one of them follows from the others."),
    N_("The conditions %(one)s and %(other)s share no size."),
    N_(
        "The permutation test is conditional on these raters: if raters differ in how they treat the conditions it "
        "rejects a true null too often, in simulations in 19 to 31 % of studies with three raters and 13 to 21 % with "
        "six. Read it with the interval that resamples raters."
    ),
    N_("Shuffling within raters needs exactly one verdict for each neuron; here some neurons have several."),
    N_("An upper bound of self-agreement: a rater may recognise a neuron they saw before."),
    N_("No rater was shown a neuron twice."),
    N_("raters with fewer than %(n)s verdicts counted"),
    N_("raters counted who called more than %(share)s of controls interpretable"),
    N_("verdicts under %(n)s s counted"),
    N_("only neurons shaded by rank"),
    N_("only neurons shaded by level"),
    N_("This rule changes no verdict of this study."),
    N_("Under this rule no verdict is left."),
    N_("all “cannot decide” count as not interpretable"),
    N_("all “cannot decide” count as interpretable"),
    N_("“cannot decide” left out"),
    N_("late verdicts left out"),
    N_("late verdicts counted"),
    N_("surplus verdicts left out"),
    N_("surplus verdicts counted"),
    N_("as planned"),
    N_("first version of an edited verdict instead of the last"),
    N_("last version of an edited verdict instead of the first"),
    N_("excluded raters counted"),
    N_("items that were opened early counted"),
    N_("items that were opened early left out"),
    N_("position, per 10 items"),
    N_("No time is recorded."),
    N_("Too few verdicts for an interval of a median."),
    N_("The data do not tell the two apart."),
    N_("For these raters the two differ; for raters like them the data do not tell the two apart."),
    N_("No verdict of a %(kind)s rater on a neuron stands, so there is nothing to estimate."),
    N_("never fired"),
    N_("never positive"),
    N_("too few snippets"),
    N_("activations that are no number"),
    N_("mixed model, random neuron and rater, logit, posterior mean and credible interval"),
    N_("The package bambi is not installed. Run, in Glance's folder: pip install -c constraints.txt -e '.[mixed]'"),
    N_("It needs two raters or more, and twenty neurons or more."),
    N_("The chains did not mix (R-hat above 1.05), so the model says nothing."),
)
PLACE = re.compile(r"%\((\w+)\)s")


def translated(sentence: str, language: Language) -> str:
    """The sentence in the language, its values kept; as it is where no template fits."""
    if language.code == "en" or not sentence:
        return sentence
    known = language.gettext(sentence)
    if known != sentence:
        return known
    for template in (one for one in SENTENCES if PLACE.search(one)):
        found = _pattern(template).fullmatch(sentence)
        if found:
            return language.gettext(template) % found.groupdict()
    return sentence


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parts = PLACE.split(template)  # text, name, text, name, …
    return re.compile("".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts)))
