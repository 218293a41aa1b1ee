"""Numbers and moments as a report says them."""

from collections.abc import Sequence
from datetime import datetime

from app.reports.names import MINUS
from app.reports.statistics.estimate import Estimate

NOTHING = "–"
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def day(at: datetime | str | None) -> str:
    """22 March 2031; the day is UTC's."""
    moment = _moment(at)
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}" if moment else NOTHING


def minute(at: datetime | str | None) -> str:
    """22 March 2031, 08:31 UTC."""
    moment = _moment(at)
    return f"{day(moment)}, {moment:%H:%M} UTC" if moment else NOTHING


def _moment(at: datetime | str | None) -> datetime | None:
    return datetime.fromisoformat(at) if isinstance(at, str) else at


def interval(estimate: Estimate, scale: float = 100, digits: int = 1) -> str:
    """25.9 to 49.4, in per cent or points unless another scale is asked for."""
    if estimate.low is None or estimate.high is None:
        return NOTHING
    return f"{signed(estimate.low * scale, digits)} to {signed(estimate.high * scale, digits)}"


def value(estimate: Estimate, scale: float = 1, digits: int = 2) -> str:
    """The estimate alone; what is undefined says so."""
    return "undefined" if estimate.value is None else signed(estimate.value * scale, digits)


def signed(number: float, digits: int) -> str:
    """A number with a true minus sign, and no minus before a zero."""
    text = f"{number:.{digits}f}"
    return (text if float(text) else text.removeprefix("-")).replace("-", MINUS)


def probability(p: float | None) -> str:
    """A p value with as many digits as it has meaning."""
    if p is None:
        return "undefined"
    return f"{p:.4f}" if p < 0.01 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def listed(things: Sequence[str]) -> str:
    """a, b and c."""
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} and {things[-1]}" if things else ""


def counted(n: int, one: str, many: str = "") -> str:
    """1 verdict, 2 verdicts, 1 200 verdicts."""
    return f"{thousands(n)} {one if n == 1 else many or one + 's'}"


def thousands(n: int) -> str:
    """2 000 000, with thin spaces that do not break."""
    return f"{n:,}".replace(",", "\u202f")


def seconds(time: float) -> str:
    """47 s, 2 min 5 s."""
    whole = round(time)
    return f"{whole}\u00a0s" if whole < 120 else f"{whole // 60}\u00a0min {whole % 60}\u00a0s"
