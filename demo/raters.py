"""Simulated raters: programs that open a rater's link and judge by what the page shows, and by nothing else.

They stand in for people where a demonstration needs a finished study. Their studies are marked as simulated
and never enter a human figure. Each of them looks only at the outlined tokens: one or a few words that cover
most of the twenty make a rule. How many words, and how much is most, differs between them as strictness does.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from demo.browser import Browser, Page

WAIT_SECONDS = 2.0


@dataclass(frozen=True)
class Habit:
    """How one simulated rater judges."""

    words: int
    """How many different outlined tokens may make up one rule."""
    share: float
    """How much of the snippets the rule must cover."""


HABITS = (Habit(words=1, share=0.8), Habit(words=2, share=0.8), Habit(words=1, share=0.7))


class Stuck(Exception):
    """A page on which a rater cannot go on."""


def judge(peaks: list[str], habit: Habit) -> tuple[str, str]:
    """The verdict and the rule in words."""
    counts = Counter(_word(peak) for peak in peaks)
    common = counts.most_common(habit.words)
    covered = sum(count for _, count in common)
    if peaks and covered >= habit.share * len(peaks):
        rule = " or ".join(f"“{word}”" for word, _ in common)
        return "INTERPRETABLE", f"the token {rule}, {covered} of {len(peaks)}"
    return "NOT_INTERPRETABLE", ""


def rate_everything(link: str, base: str, habit: Habit, done: Callable[[], None]) -> int:
    """Open the link, consent, practise, rate, check and guess until the page says thanks. Returns how many verdicts.

    Raises Stuck when a page offers no way on.
    """
    browser = Browser(base)
    page = browser.get(link)
    given = 0
    while page.state != "finished" or page.form("/next-part"):
        verdicts = page.form("/rate/verdict")
        if verdicts is None:
            page = _before_or_after(browser, page, habit) or _go_on(browser, page)
            continue
        verdict, rule = judge(page.peaks, habit)
        page = browser.submit(page, verdicts, ("verdict", verdict), hypothesis=rule)
        given += 1
        done()
    return given


def _before_or_after(browser: Browser, page: Page, habit: Habit) -> Page | None:
    """Practice, the hypothesis check and guesses; None on another page."""
    if form := page.form("/practice/verdict"):
        verdict, rule = judge(page.peaks, habit)
        return browser.submit(page, form, ("verdict", verdict), hypothesis=rule)
    if form := page.form("/check/answer"):
        return browser.submit(page, form, fires=foretold(page.peaks, page.html.count("name=fires"), habit))
    if form := page.form("/guesses/guess"):  # by nothing that means anything
        return browser.submit(page, form, form.buttons[len("".join(page.peaks)) % len(form.buttons)])
    form = page.form("/practice/next") or page.form("/next-part")
    return browser.submit(page, form) if form else None


def foretold(peaks: list[str], held_out: int, habit: Habit) -> list[str]:
    """The numbers of the held-out snippets, the last on the page, whose token is of the rule of the rated ones."""
    rated = Counter(_word(peak) for peak in peaks[:-held_out])
    rule = {word for word, _ in rated.most_common(habit.words)}
    return [str(number) for number, peak in enumerate(peaks[-held_out:], start=1) if _word(peak) in rule]


def _word(peak: str) -> str:
    return peak.strip().casefold()


def _go_on(browser: Browser, page: Page) -> Page:
    if page.state == "waiting":
        time.sleep(WAIT_SECONDS)
        return browser.get("/rate")
    for form in page.forms:
        if form.action.endswith("/rate/begin") or "/join/" in form.action:
            return browser.submit(page, form, consent="yes")
    raise Stuck(f"{page.url} answered {page.status} and offers no way on.")
