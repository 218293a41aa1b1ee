"""Numbers, moments and sentences as a report says them, in the reader's language."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.reports.names import MINUS, letter
from app.reports.sentences import translated
from app.reports.statistics.estimate import Estimate
from app.words.language import N_, Language

NOTHING = "–"
THINGS = {
    "model": N_("%(n)s models"),
    "neuron": N_("%(n)s neurons"),
    "rater": N_("%(n)s raters"),
    "verdict": N_("%(n)s verdicts"),
    "arm": N_("%(n)s arms"),
    "control": N_("%(n)s controls"),
    "repeat": N_("%(n)s repeats"),
    "line": N_("%(n)s lines"),
    "item": N_("%(n)s items"),
    "call": N_("%(n)s calls"),
    "guess": N_("%(n)s guesses"),
}
"""What is counted, in the plural, which is the only form where a language has one."""

FEATURES = {
    "length": N_("lengths"),
    "shading": N_("shading"),
    "signs": N_("signs"),
    "timing": N_("serving time"),
    "all": N_("all together"),
}
"""Groups of what an item's form is told by, in the audit of blinding."""
KINDS = {
    "neuron": N_("neuron"),
    "mixed": N_("mixed"),
    "direction": N_("direction"),
    "repeat": N_("repeat"),
    "practice": N_("practice"),
    "check": N_("check"),
}
"""Of items."""
OUTCOMES = {
    "started": N_("started"),
    "answered": N_("answered"),
    "malformed": N_("malformed"),
    "refused": N_("refused"),
    "limited": N_("limited"),
    "failed": N_("failed"),
    "timed_out": N_("timed out"),
    "disconnected": N_("disconnected"),
}
"""Of calls to a model's endpoint."""


@dataclass(frozen=True)
class Words:
    """How one language says things. English needs no catalogue."""

    language: Language

    def _(self, message: str) -> str:
        return self.language.gettext(message)

    def said(self, sentence: str) -> str:
        """A sentence of the statistics, its numbers kept."""
        return translated(sentence, self.language)

    def each_said(self, sentences: Iterable[str]) -> list[str]:
        return [self.said(sentence) for sentence in sentences]

    def all_said(self, sentences: Iterable[str]) -> str:
        """Sentences one after the other."""
        return ("" if self.language.code == "zh-Hans" else " ").join(self.each_said(sentences))

    def day(self, at: datetime | str | None) -> str:
        """22 March 2031; the day is UTC's."""
        moment = _moment(at)
        return self.language.day(moment) if moment else NOTHING

    def minute(self, at: datetime | str | None) -> str:
        """22 March 2031, 08:31 UTC."""
        moment = _moment(at)
        return self.language.minute(moment) if moment else NOTHING

    def interval(self, estimate: Estimate, scale: float = 100, digits: int = 1) -> str:
        """25.9 to 49.4, in per cent or points unless another scale is asked for."""
        if estimate.low is None or estimate.high is None:
            return NOTHING
        low, high = signed(estimate.low * scale, digits), signed(estimate.high * scale, digits)
        return self._(N_("%(low)s to %(high)s")) % {"low": low, "high": high}

    def value(self, estimate: Estimate, scale: float = 1, digits: int = 2) -> str:
        """The estimate alone; what is undefined says so."""
        return self._(N_("undefined")) if estimate.value is None else signed(estimate.value * scale, digits)

    def signed(self, number: float, digits: int) -> str:
        return signed(number, digits)

    def probability(self, p: float | None) -> str:
        """A p value with as many digits as it has meaning."""
        if p is None:
            return self._(N_("undefined"))
        return f"{p:.4f}" if p < 0.01 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"

    def listed(self, things: Sequence[str]) -> str:
        """a, b and c."""
        if len(things) < 2:
            return things[0] if things else ""
        comma = self._(N_(", "))
        return self._(N_("%(first)s and %(last)s")) % {"first": comma.join(things[:-1]), "last": things[-1]}

    def counted(self, n: int, one: str) -> str:
        """1 verdict, 2 verdicts, 1 200 verdicts."""
        if self.language.code == "en":
            return counted(n, one)
        return self._(THINGS[one]) % {"n": thousands(n)}

    def features(self, group: str) -> str:
        return self._(FEATURES[group])

    def kind(self, kind: str) -> str:
        return self._(KINDS[kind])

    def outcomes(self, counts: Mapping[str, int]) -> str:
        """3 answered, 1 timed out."""
        return self._(N_(", ")).join(f"{thousands(n)} {self._(OUTCOMES[name])}" for name, n in counts.items())

    def thousands(self, n: int) -> str:
        return thousands(n)

    def seconds(self, time: float) -> str:
        """47 s, 2 min 5 s."""
        whole = round(time)
        if whole < 120:
            return self._(N_("%(s)s\u00a0s")) % {"s": whole}
        return self._(N_("%(min)s\u00a0min %(s)s\u00a0s")) % {"min": whole // 60, "s": whole % 60}

    def rater(self, number: int) -> str:
        """What a report calls a rater: names stay with the administrators."""
        return self._(N_("Rater %(letter)s")) % {"letter": letter(number)}


def _moment(at: datetime | str | None) -> datetime | None:
    return datetime.fromisoformat(at) if isinstance(at, str) else at


def signed(number: float, digits: int) -> str:
    """A number with a true minus sign, and no minus before a zero."""
    text = f"{number:.{digits}f}"
    return (text if float(text) else text.removeprefix("-")).replace("-", MINUS)


def counted(n: int, one: str) -> str:
    """In English: 1 guess, 2 guesses."""
    many = one + ("es" if one.endswith("s") else "s")
    return f"{thousands(n)} {one if n == 1 else many}"


def thousands(n: int) -> str:
    """2 000 000, with thin spaces that do not break."""
    return f"{n:,}".replace(",", "\u202f")
