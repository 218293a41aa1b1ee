"""The numbers and drawings of one table of verdicts, computed once in a process and then kept."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from app.language import Language
from app.reports.names import letter
from app.reports.record import seed_of
from app.reports.speech import say

if TYPE_CHECKING:
    import pandas as pd

    from app.reports.figures import Figure
    from app.reports.statistics.analysis import Analysis
    from app.reports.statistics.plan import Plan

KEPT = 8
_kept: OrderedDict[str, "Analysed"] = OrderedDict()
_lock = Lock()  # two people who open a report at once wait for one computation


@dataclass
class Analysed:
    """What a report shows of a table of verdicts. Figures are drawn when they are first asked for."""

    analysis: "Analysis"

    _figures: "dict[str, dict[str, Figure]]" = field(default_factory=dict)
    _drawn: dict[str, dict[str, str]] = field(default_factory=dict)

    def figures_in(self, speaking: Language) -> "dict[str, Figure]":
        """The figures that these numbers can fill, by name, with the words of a language."""
        from app.reports.speech import in_language

        if speaking.code not in self._figures:
            with in_language(speaking):
                self._figures[speaking.code] = {figure.name: figure for figure in draw(self.analysis)}
        return self._figures[speaking.code]

    def drawn_in(self, speaking: Language) -> dict[str, str]:
        """The figures as inline SVG, by name."""
        from app.reports.figures import inline

        if speaking.code not in self._drawn:
            figures = self.figures_in(speaking)
            self._drawn[speaking.code] = {name: inline(figure) for name, figure in figures.items()}
        return self._drawn[speaking.code]


def analysed(
    table: "pd.DataFrame",
    plan: "Plan",
    seal: str,
    arms: "pd.DataFrame",
    pages: "Callable[[], pd.DataFrame]",
    guesses: "pd.DataFrame | None" = None,
    held_out: "pd.DataFrame | None" = None,
) -> Analysed:
    """Analyse, or take what was made of the very same tables and plan of the study with this seal.

    Pages are read only where the analysis is made: the seal has fixed them. Raises ValueError where no verdict counts.
    """
    from app.reports.statistics.analysis import analyse

    tables = "\n".join("" if one is None else one.to_csv() for one in (arms, table, guesses, held_out))
    key = sha256(f"{plan}\n{seal}\n{tables}".encode()).hexdigest()
    with _lock:
        if key not in _kept:
            more = {"arms": arms, "pages": pages(), "guesses": guesses, "held_out": held_out}
            _kept[key] = Analysed(analyse(table, plan, seed_of(seal), **more))
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
        return _kept[key]


def draw(analysis: "Analysis") -> "list[Figure]":
    """The figures that these numbers can fill."""
    from app.reports.figures import blinding_figure, forest_figure, fraction_figure, strictness_figure, times_figure

    simulated, baseline = bool(analysis.label), analysis.plan.baseline
    drawn = [fraction_figure(analysis.arms, baseline, simulated)]
    if any(difference.neurons.defined for difference in analysis.differences):
        drawn.append(forest_figure(analysis.differences, simulated))
    names = {rater.rater: say("Rater %(letter)s") % {"letter": letter(rater.rater)} for rater in analysis.strictness}
    drawn.append(strictness_figure(analysis.strictness, baseline, names, simulated))
    if analysis.blinding and any(bang.index.defined for bang in analysis.blinding.conditions):
        drawn.append(blinding_figure(analysis.blinding, baseline, simulated))
    if any(row.quantiles_seconds for row in analysis.times):
        drawn.append(times_figure(analysis.times, baseline, simulated))
    return drawn
