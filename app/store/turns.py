import threading
from collections import deque


class Turns:
    """A line of threads: one at a time, in the order they came."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False

    def take(self, patience_seconds: float) -> bool:
        """Wait for one's turn; False when it did not come in time."""
        with self._guard:
            if not self._taken:
                self._taken = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(patience_seconds):
            return True
        with self._guard:
            if mine.is_set():  # it came between the end of the wait and here
                return True
            self._waiting.remove(mine)
            return False

    def give(self) -> None:
        """Let the next one in line go."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False
