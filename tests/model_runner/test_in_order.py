import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from model_runner.in_order import Abandoned, Turns


def test_turns_come_in_order_whoever_is_first() -> None:
    turns, taken = Turns(3), []

    def work(number: int) -> None:
        time.sleep(random.Random(number).random() / 100)
        with turns.turn(number):
            taken.append(number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(3, 23)))
    assert taken == list(range(3, 23))


def test_whoever_waits_for_a_failed_turn_is_told() -> None:
    turns, told = Turns(0), threading.Event()

    def wait() -> None:
        with pytest.raises(Abandoned), turns.turn(1):
            pass
        told.set()

    thread = threading.Thread(target=wait)
    thread.start()
    turns.abandon()
    thread.join(10)
    assert told.is_set()
