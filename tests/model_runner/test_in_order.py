import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from model_runner.collect.in_order import Turns


def test_work_is_done_in_order_and_one_at_a_time() -> None:
    turns, done, at_it = Turns(3), [], threading.Lock()

    def work(number: int) -> None:
        assert at_it.acquire(blocking=False)
        done.append(number)
        at_it.release()

    def hand_in(number: int) -> None:
        time.sleep(random.Random(number).random() / 100)
        turns.hand_in(number, partial(work, number))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(hand_in, range(3, 43)))
    turns.wait_for(42)
    assert done == list(range(3, 43))


def test_whoever_waits_for_failed_work_hears_why() -> None:
    turns, heard = Turns(0), []

    def wait() -> None:
        with pytest.raises(ValueError, match="broken") as caught:
            turns.wait_for(1)
        heard.append(caught.value)

    thread = threading.Thread(target=wait)
    thread.start()
    turns.hand_in(1, lambda: None)
    turns.abandon(ValueError("broken"))
    thread.join(10)
    assert len(heard) == 1
