"""The numbers and drawings of one table of verdicts, computed once in a process and then kept."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from app.reports.names import letter
from app.reports.record import seed_of
from app.reports.speech import say
from app.words.language import Language

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
    stamp: str = ""
    """What its figures are stamped with: SIMULATED, PILOT, both or nothing."""

    clock: tuple[int, int] = (60, 120)
    """Seconds until raters' soft clock turned, and until it was full."""

    _figures: "dict[str, dict[str, Figure]]" = field(default_factory=dict)
    _drawn: dict[str, dict[str, str]] = field(default_factory=dict)

    def figures_in(self, speaking: Language) -> "dict[str, Figure]":
        """The figures that these numbers can fill, by name, with the words of a language."""
        from app.reports.speech import in_language

        if speaking.code not in self._figures:
            with in_language(speaking):
                self._figures[speaking.code] = {
                    figure.name: figure for figure in draw(self.analysis, self.stamp, self.clock)
                }
        return self._figures[speaking.code]

    def is_drawn_in(self, speaking: Language) -> bool:
        """Whether the drawings of a language need no waiting for."""
        return speaking.code in self._drawn

    def drawn_in(self, speaking: Language) -> dict[str, str]:
        """The figures as inline SVG, by name."""
        from app.reports.figures import inline

        if speaking.code not in self._drawn:
            figures = self.figures_in(speaking)
            self._drawn[speaking.code] = {name: inline(figure) for name, figure in figures.items()}
        return self._drawn[speaking.code]


@dataclass(frozen=True, eq=False)
class Inputs:
    """All that an analysis is made of, read from the database."""

    verdicts: "pd.DataFrame"
    plan: "Plan"
    seal: str
    arms: "pd.DataFrame"
    pages: "Callable[[], pd.DataFrame]"
    """Read only where the analysis is made: the seal has fixed what it gives."""
    guesses: "pd.DataFrame | None" = None
    held_out: "pd.DataFrame | None" = None
    stamp: str = ""
    """What the figures are stamped with."""
    clock: tuple[int, int] = (60, 120)
    """Seconds until raters' soft clock turned, and until it was full."""

    @cached_property
    def key(self) -> str:
        """Equal for the very same tables and plan of the study with this seal."""
        every = (self.arms, self.verdicts, self.guesses, self.held_out)
        tables = "\n".join("" if one is None else one.to_csv() for one in every)
        return sha256(f"{self.plan}\n{self.seal}\n{self.stamp}\n{self.clock}\n{tables}".encode()).hexdigest()


def kept(inputs: Inputs) -> Analysed | None:
    """What was made of the same inputs before in this process, if it is still there."""
    return _kept.get(inputs.key)


def analysed(inputs: Inputs) -> Analysed:
    """Analyse, or take what was made of the same inputs. Raises ValueError where no verdict counts."""
    from app.reports.statistics.analysis import analyse

    with _lock:
        if inputs.key not in _kept:
            _kept[inputs.key] = Analysed(
                analyse(
                    inputs.verdicts, inputs.plan, seed_of(inputs.seal), arms=inputs.arms, pages=inputs.pages(),
                    guesses=inputs.guesses, held_out=inputs.held_out,
                ),
                inputs.stamp,
                inputs.clock,
            )  # fmt: skip
        _kept.move_to_end(inputs.key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
        return _kept[inputs.key]


def draw(analysis: "Analysis", stamp: str, clock: tuple[int, int]) -> "list[Figure]":
    """The figures that these numbers can fill."""
    from app.reports.figures import blinding_figure, forest_figure, fraction_figure, strictness_figure, times_figure

    baseline = analysis.plan.baseline
    drawn = [fraction_figure(analysis.arms, baseline, stamp)]
    if any(difference.neurons.defined for difference in analysis.differences):
        drawn.append(forest_figure(analysis.differences, stamp))
    names = {rater.rater: say("Rater %(letter)s") % {"letter": letter(rater.rater)} for rater in analysis.strictness}
    drawn.append(strictness_figure(analysis.strictness, baseline, names, stamp))
    if analysis.blinding and any(bang.index.defined for bang in analysis.blinding.conditions):
        drawn.append(blinding_figure(analysis.blinding, baseline, stamp))
    if any(row.quantiles_seconds for row in analysis.times):
        drawn.append(times_figure(analysis.times, baseline, stamp, clock))
    return drawn
