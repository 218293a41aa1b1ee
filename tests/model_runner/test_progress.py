import io
import time

import pytest

from model_runner.progress import PLAIN_SECONDS, Bar


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_nothing_is_said_before_its_time_and_then_how_long_it_will_take(clock: list[float]) -> None:
    said = io.StringIO()
    bar = Bar("Training", 1_000, "tokens", said)
    bar.advance(50)
    assert said.getvalue() == ""
    clock[0] += PLAIN_SECONDS
    bar.advance(50, note="loss 3.2")
    assert said.getvalue() == "Training: 100 of 1,000 tokens, about 90 s left loss 3.2\n"


def test_what_an_earlier_run_did_does_not_flatter_the_estimate(clock: list[float]) -> None:
    said = io.StringIO()
    bar = Bar("Training", 1_000, "tokens", said)
    bar.skip(800)
    clock[0] += PLAIN_SECONDS
    bar.advance(100)
    assert said.getvalue() == "Training: 900 of 1,000 tokens, about 10 s left\n"
