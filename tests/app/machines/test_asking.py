"""What a machine rater is asked and what counts as an answer. No network, no database."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import main
from app.errors import Invalid
from app.machines.asking import Declined, NoAnswer, instructions, read_answer, request_body, usage_of
from app.machines.budget import Budget, Spent, Usage, why_no_more
from app.machines.endpoint import endpoint
from app.machines.rating import LONGEST_PAUSE_SECONDS, pause_seconds
from app.machines.reading import as_text
from app.rating.shading import pad, render_item
from app.rating.snippets import LEVELS, Shown, shares

MARK = re.compile(r"(?<!\\)⟦(\d+)(\*?):((?:\\[⟦⟧]|[^⟦⟧])*)⟧")
WORDS = st.text(st.sampled_from("abc <&>\"'é猫⟦⟧é"), min_size=1, max_size=6).map(str.encode)


@st.composite
def snippets(draw: st.DrawFn) -> list[Shown]:
    def one() -> Shown:
        texts = draw(st.lists(WORDS, min_size=1, max_size=12))
        levels = draw(st.lists(st.floats(-1, 1), min_size=len(texts), max_size=len(texts)))
        return Shown(texts, levels, draw(st.integers(0, len(texts) - 1)), draw(st.booleans()), draw(st.booleans()))

    return [one() for _ in range(draw(st.integers(1, 4)))]


@given(snippets())
def test_the_text_says_what_the_page_says(given_snippets: list[Shown]) -> None:
    fragment = render_item(given_snippets).narrow
    lines = as_text(pad(fragment, len(fragment) + 99)).split("\n")
    assert len(lines) == len(given_snippets)
    top = max(shown.activations[shown.peak] for shown in given_snippets)
    for number, (line, shown) in enumerate(zip(lines, given_snippets, strict=True), 1):
        text = line.removeprefix(f"{number}. ")
        assert text.startswith("…") != shown.document_start
        assert text.endswith("…") != shown.document_end
        whole = MARK.sub(lambda found: found[3], text).strip("…").replace("\\⟦", "⟦").replace("\\⟧", "⟧")
        assert whole == b"".join(shown.texts).decode()
        levels = shares(shown.activations, top)
        outlined = [found for found in MARK.finditer(text) if found[2]]
        assert len(outlined) == 1
        assert int(outlined[0][1]) >= levels[shown.peak]
        assert all(0 < int(found[1]) <= LEVELS for found in MARK.finditer(text) if not found[2])


def test_what_is_hidden_until_widened_is_left_out_and_signs_stand_for_what_cannot_be_seen() -> None:
    long = Shown([b" word%d" % n for n in range(60)], [0.0] * 59 + [1.0], 59, True, True)
    signs = Shown([b"a", b"\n  ", b"\t", b"\xff", "\u00a0".encode(), b"b"], [0, 0.5, 0, 0, 0, 1.0], 5, True, True)
    first, second = as_text(render_item([long, signs]).narrow).split("\n")
    assert first.startswith("1. …")
    assert " word0 " not in first
    assert second == "2. a⟦8:⏎  ⟧⇥\\xFF␣⟦15*:b⟧"


def test_a_request_holds_the_snippets_and_nothing_of_the_study() -> None:
    body = request_body("m", instructions(), "1. text")
    assert [message["content"] for message in body["messages"]] == [instructions(), "1. text"]
    assert set(body) == {"model", "messages", "temperature", "max_tokens"}
    assert instructions(" ") == instructions()
    assert instructions("Only prose.").endswith("Only prose.")


def reply(content: Any, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": finish}]}


GOOD = json.dumps({"verdict": "INTERPRETABLE", "hypothesis": "the word “the”"})


@pytest.mark.parametrize("content", [GOOD, f"\n {GOOD} \n", f"```json\n{GOOD}\n```", f"```\n{GOOD}\n```"])
def test_an_answer_is_one_object(content: str) -> None:
    assert read_answer(reply(content)) == ("INTERPRETABLE", "the word “the”")


@pytest.mark.parametrize(
    "content",
    [
        None, "", " ", "INTERPRETABLE", GOOD + GOOD, f"Sure! {GOOD}", f"{GOOD} I hope this helps.", f"[{GOOD}]", "{",
        "[" * 99_999,
        '{"verdict": "INTERPRETABLE"}', '{"verdict": "NOT", "hypothesis": ""}', '{"verdict": null, "hypothesis": ""}',
        '{"verdict": "interpretable", "hypothesis": ""}', '{"verdict": ["INTERPRETABLE"], "hypothesis": ""}',
        '{"verdict": "INTERPRETABLE", "hypothesis": null}', '{"verdict": "INTERPRETABLE", "hypothesis": "", "arm": 1}',
        json.dumps({"verdict": "INTERPRETABLE", "hypothesis": "x" * 2001}),
        '{"verdict": "INTERPRETABLE", "hypothesis": "\\u0000"}',
    ],
)  # fmt: skip
def test_anything_else_is_no_answer(content: Any) -> None:
    with pytest.raises(NoAnswer, match=r"^The "):
        read_answer(reply(content))


@pytest.mark.parametrize(
    "strange", [None, [], {}, {"choices": []}, {"choices": [1]}, {"choices": [{"message": 1}]}, 7, "x"]
)
def test_a_reply_of_another_shape_is_no_answer(strange: Any) -> None:
    with pytest.raises(NoAnswer):
        read_answer(strange)
    assert usage_of(strange) == (None, None)


def test_what_was_cut_off_or_declined_is_no_answer() -> None:
    with pytest.raises(NoAnswer, match="cut off"):
        read_answer(reply(GOOD, "length"))
    for declined in (reply(None, refusal="I cannot help with that."), reply(GOOD, "content_filter")):
        with pytest.raises(Declined):
            read_answer(declined)


def test_half_a_character_is_kept_as_a_question_mark() -> None:
    assert read_answer(reply('{"verdict": "INTERPRETABLE", "hypothesis": "a\\ud800b"}')).hypothesis == "a?b"


@pytest.mark.parametrize("usage", [{"prompt_tokens": True}, {"prompt_tokens": -1}, {"prompt_tokens": "7"}, [], None])
def test_counts_that_are_none_are_not_known(usage: Any) -> None:
    assert usage_of({"usage": usage}) == (None, None)


# ---- budget -------------------------------------------------------------------------------------


def test_what_a_call_costs() -> None:
    budget = Budget(price_in=2.0, price_out=10.0)
    assert budget.cost(Usage(1000, 100)) == pytest.approx(0.003)
    assert budget.cost(Usage(None, 100)) is None
    assert Budget().cost(Usage(1000, 100)) is None


@pytest.mark.parametrize(
    ("spent", "stops"),
    [
        (Spent(), False),
        (Spent(calls=9, cost=0.5, dearest=0.1), False),
        (Spent(calls=10, cost=0.5, dearest=0.1), True),  # the limit of calls
        (Spent(calls=9, cost=0.95, dearest=0.1), True),  # the next one could go over
        (Spent(calls=9, cost=0.5, dearest=0.1, unknown=5), True),  # so may those that were cut off
        (Spent(calls=1, cost=1.0, dearest=0.0), True),
    ],
)
def test_when_no_further_call_is_made(spent: Spent, stops: bool) -> None:
    budget = Budget(price_in=1, price_out=1, most_cost=1.0, most_calls=10)
    assert (why_no_more(budget, spent) is not None) == stops
    assert why_no_more(Budget(), spent) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"most_cost": 1.0},
        {"price_in": 1.0},
        {"price_in": -1, "price_out": 1},
        {"most_calls": 0},
        {"price_in": float("nan")},
    ],
)
def test_limits_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Budget(**wrong)


# ---- the address, and waiting -------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        "ftp://a/v1",
        "file:///etc/passwd",
        "http://",
        "http://u:p@h/v1",
        "http://h:x/v1",
        "http://[/",
        "http://h/v1#a",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(Invalid, match="is no address"):
        endpoint(url, "", 1.0)


def test_an_address_is_completed_and_named_without_its_query() -> None:
    assert endpoint("http://h:1/v1/", "", 1.0).url == "http://h:1/v1/chat/completions"
    whole = endpoint("https://h/v1/chat/completions?key=secret", "", 1.0)
    assert whole.url == "https://h/v1/chat/completions?key=secret"
    assert whole.named == "https://h/v1/chat/completions"
    base = endpoint("https://h/v1/?version=2", "", 1.0)
    assert base.url == "https://h/v1/chat/completions?version=2"
    six = endpoint("http://[::1]:8000/v1", "", 1.0)
    assert (six.url, six.named) == ("http://[::1]:8000/v1/chat/completions",) * 2


def test_no_try_is_refused_before_anything_is_looked_up(capsys: pytest.CaptureFixture[str]) -> None:
    act = ("machine-rate", "Winter", "--url", "http://h/v1", "--model", "m", "--tries", "0")
    assert main([*act]) == 2
    assert "--tries 0 asks nothing. Give 1 or more." in capsys.readouterr().err


def test_a_key_or_a_timeout_that_cannot_be_is_refused() -> None:
    for key, timeout in (("a\nb", 1.0), ("clé", 1.0), ("", 0.0), ("", float("nan"))):
        with pytest.raises(Invalid):
            endpoint("http://h/v1", key, timeout)


@given(st.integers(0, 30), st.none() | st.floats(0, 1e9), st.floats(0, 1))
def test_pauses_grow_and_end(number: int, retry_after: float | None, chance: float) -> None:
    pause = pause_seconds(number, retry_after, chance)
    assert 0.5 <= pause <= LONGEST_PAUSE_SECONDS
    assert pause >= min(retry_after or 0, LONGEST_PAUSE_SECONDS)
    assert pause_seconds(number + 1, retry_after, chance) >= pause
