"""An analysis that somebody waits for: a thread makes it, and a page says how far it is."""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Lock

from app.reports.analysed import Inputs, analysed, kept
from app.words.language import N_, Language

STEPS = (N_("Loading the statistics"), N_("Resampling and testing"), N_("Drawing the figures"))
_thread = ThreadPoolExecutor(1, thread_name_prefix="report")  # one at a time: each takes all of a core
_at_work: dict[tuple[str, str], "Work"] = {}
_lock = Lock()


@dataclass(eq=False)
class Work:
    """One analysis on its way, and its drawings in one language."""

    future: "Future[None]"
    step: int = 0
    """Which of the steps it is at, from 0."""
    told: bool = False
    """Somebody was told what went wrong."""

    def is_done_within(self, seconds: float) -> bool:
        """Wait a little. Raises what went wrong, if something did."""
        wait([self.future], seconds)
        if self.future.done():
            self.told = True
            self.future.result()
        return self.future.done()


def begin(inputs: Inputs, speaking: Language) -> Work | None:
    """Start what is not there yet, or find it at work or failed; None where nothing need be waited for.

    Everything is read from the database before this returns: a session is of one thread.
    """
    there = kept(inputs)
    if there is not None and there.is_drawn_in(speaking):
        return None
    name = inputs.key, speaking.code
    with _lock:
        work = _at_work.get(name)
        if work is not None and work.future.done():
            del _at_work[name]
            if work.future.exception() is not None and not work.told:
                return work  # somebody is told once; whoever asks next tries again
            work = None  # made, and thrown away since
        if work is None:
            if there is None:
                pages = inputs.pages()
                inputs = replace(inputs, pages=lambda: pages)
            _at_work[name] = work = Work(Future())
            work.future = _thread.submit(_make, work, inputs, speaking)
        return work


def _make(work: Work, inputs: Inputs, speaking: Language) -> None:
    import app.reports.figures
    import app.reports.statistics.analysis  # noqa: F401  # what takes long the first time

    work.step = 1
    found = analysed(inputs)
    work.step = 2
    found.drawn_in(speaking)
