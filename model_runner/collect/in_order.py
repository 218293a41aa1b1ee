"""Work that several threads hand in, done one at a time in a fixed order: number n after number n - 1."""

import threading
from collections.abc import Callable


class Turns:
    """A row of turns. Whoever hands in work before its turn goes on, and leaves it to whoever does the work before."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._busy = False
        self._waiting: dict[int, Callable[[], None]] = {}
        self._failure: BaseException | None = None
        self._changed = threading.Condition()

    def hand_in(self, number: int, work: Callable[[], None]) -> None:
        """Have the work done when it is its turn: now, with all that waits for it, or later by another thread.

        Raises what the work raises.
        """
        with self._changed:
            self._waiting[number] = work
        while due := self._due():
            due()
            with self._changed:
                self._next, self._busy = self._next + 1, False
                self._changed.notify_all()

    def _due(self) -> Callable[[], None] | None:
        """The work whose turn it is, for the caller to do; None where another thread is at it or it is not here."""
        with self._changed:
            if self._busy or self._next not in self._waiting:
                return None
            self._busy = True
            return self._waiting.pop(self._next)

    def wait_for(self, number: int) -> None:
        """Until the work of this number is done. Raises what made it impossible."""
        with self._changed:
            self._changed.wait_for(lambda: self._failure is not None or self._next > number)
            if self._failure is not None:
                raise self._failure

    def abandon(self, failure: BaseException) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._failure = self._failure or failure
            self._changed.notify_all()
