import threading
import time

from app.store.turns import Turns


def test_threads_go_one_at_a_time_in_the_order_they_came() -> None:
    turns = Turns()
    went: list[int] = []
    assert turns.take(1)

    def wait(number: int) -> None:
        assert turns.take(10)
        went.append(number)
        turns.give()

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(5)]
    for in_line, thread in enumerate(threads, start=1):
        thread.start()
        while len(turns._waiting) < in_line:
            time.sleep(0.001)
    turns.give()
    for thread in threads:
        thread.join(10)
    assert went == [0, 1, 2, 3, 4]


def test_who_is_not_served_in_time_leaves_the_line() -> None:
    turns = Turns()
    assert turns.take(1)
    assert not turns.take(0.01)
    turns.give()
    assert turns.take(0.01)
