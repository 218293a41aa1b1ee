"""Work that several threads do in a fixed order: number n begins when number n - 1 is over."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Abandoned(Exception):
    """A turn that will never come, since a thread before it failed."""


class Turns:
    """A row of turns, each taken once."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._abandoned = False
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, number: int) -> Iterator[None]:
        """Wait for turn `number`, and let the next one begin afterwards. Raises Abandoned where it never comes."""
        with self._changed:
            self._changed.wait_for(lambda: self._abandoned or self._next == number)
            if self._abandoned:
                raise Abandoned
        yield
        with self._changed:
            self._next = number + 1
            self._changed.notify_all()

    def abandon(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._abandoned = True
            self._changed.notify_all()
