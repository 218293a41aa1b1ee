"""A line before one worker: so many may wait, no longer than so long, and the rest are sent away at once."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from model_runner.serve.asked import Refusal

Result = TypeVar("Result")


class Line:
    """Requests in the order they came, one at a time: more at once would only share the same cores."""

    def __init__(self, length: int, patience_seconds: float) -> None:
        self._length, self._patience_seconds = length, patience_seconds
        self._inside = 0
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")

    async def work(self, do: Callable[[], Result]) -> Result:
        """Wait for one's turn and have it done. Raises Refusal 429 when the line is full, 503 when it is slow."""
        if self._inside >= self._length:
            raise Refusal(429, f"{self._inside} requests wait already, as many as may. Try again in a second.")
        self._inside += 1
        done = self._worker.submit(do)
        # Also what nobody waits for any more is inside until the worker has let go of it.
        loop = asyncio.get_running_loop()
        done.add_done_callback(lambda _: loop.call_soon_threadsafe(self._leave))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(done), self._patience_seconds)
        except TimeoutError as error:
            sentence = f"The model did not answer within {self._patience_seconds:g} s. Try again with a shorter text."
            raise Refusal(503, sentence) from error

    async def load(self, do: Callable[[], Result]) -> Result:
        """Have something done that nobody waits for, however long it takes."""
        return await asyncio.wrap_future(self._worker.submit(do))

    def _leave(self) -> None:
        self._inside -= 1

    def close(self) -> None:
        """Let what is being done end, and drop what waits."""
        self._worker.shutdown(wait=True, cancel_futures=True)
