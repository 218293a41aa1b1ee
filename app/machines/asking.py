"""What a machine rater is asked, and how its answer is read. Pure.

It is told what a person is told on the welcome page, and given one item's snippets: no code, no number of the item,
no name, nothing of the study. Every item is asked about in a conversation of its own.
"""

import hashlib
import json
import re
from typing import Any, NamedTuple

from app.machines.budget import Usage
from app.models import Verdict

TEMPERATURE = 0.0
LONGEST_ANSWER_TOKENS = 4000
"""Room for models that think before they answer."""
LONGEST_HYPOTHESIS = 2000
INSTRUCTIONS = """\
You look at one neuron of a language model and say whether you can tell what it responds to. You are not told which
model it comes from.

You are given the pieces of text on which the neuron fired most strongly, numbered. How strongly it fired at a token
is written as a level from 0 to 15 of the neuron's own maximum: ⟦7:word⟧ fired at level 7; text outside such brackets
is level 0. The strongest token of each piece is outlined and has an asterisk: ⟦15*:word⟧. “…” stands where the text
goes on.
⏎ is an end of a line, ⇥ a tab, ␣ an unusual blank, ◌ a character without width, \\xE6 a byte that is no character.
A backslash before ⟦ or ⟧ means the character itself.

A neuron is interpretable if one rule or one category explains at least 80 % of its strongest firings: 16 of 20
outlined tokens.
- A rule may be about the token, about what comes before it, about meaning, or about the kind of text.
- Two unrelated things joined by “or” are two rules.
- “Cannot decide” is for text you are unable to read. A hard case is “not interpretable”.
- How much of the text is shaded says nothing. Judge the outlined tokens.

Answer with one JSON object and nothing else, with exactly these two fields:
{"verdict": "INTERPRETABLE" or "NOT_INTERPRETABLE" or "CANNOT_DECIDE",
 "hypothesis": "the rule in your own words, or an empty text"}"""
FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)


class Answer(NamedTuple):
    """What a machine rater said."""

    verdict: Verdict
    hypothesis: str


class NoAnswer(ValueError):
    """An answer that is none, said in a sentence."""


class Declined(NoAnswer):
    """The model would not say."""


def instructions(own: str = "") -> str:
    """What a machine rater is told: the rule that people are told, and what the study tells its raters besides."""
    return INSTRUCTIONS + (f"\n\nThe people who run the study add:\n{own.strip()}" if own.strip() else "")


def instructions_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def request_body(model: str, told: str, snippets: str) -> dict[str, Any]:
    """The request of the chat-completions interface about one item. The same for every item but for the snippets."""
    return {
        "model": model,
        "messages": [{"role": "system", "content": told}, {"role": "user", "content": snippets}],
        "temperature": TEMPERATURE,
        "max_tokens": LONGEST_ANSWER_TOKENS,
    }


def read_answer(reply: Any) -> Answer:
    """The answer in an endpoint's reply. Raises Declined where the model would not say, NoAnswer where it is none."""
    choice = _choice(reply)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise NoAnswer("The reply has no message.")
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        raise Declined(f"The model declined: {str(message.get('refusal') or 'its filter stopped the answer')[:300]}")
    if choice.get("finish_reason") == "length":
        raise NoAnswer("The answer was cut off at its longest.")
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        raise NoAnswer("The message is empty.")
    return _answer(content.strip())


def usage_of(reply: Any) -> Usage:
    """How many tokens the endpoint says it read and wrote."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    counts = usage if isinstance(usage, dict) else {}
    return Usage(*(_count(counts.get(name)) for name in ("prompt_tokens", "completion_tokens")))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31 else None


def _choice(reply: Any) -> dict[str, Any]:
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise NoAnswer("The reply has no choice.")
    return choices[0]


def _answer(content: str) -> Answer:
    fenced = FENCE.match(content)
    try:
        said = json.loads(fenced[1] if fenced else content)
    except (ValueError, RecursionError):
        raise NoAnswer(f"The answer is no JSON: {content[:100]!r}") from None
    if not isinstance(said, dict) or set(said) != {"verdict", "hypothesis"}:
        raise NoAnswer("The answer is not an object with the fields verdict and hypothesis, and no other.")
    verdict, hypothesis = said["verdict"], said["hypothesis"]
    if verdict not in [one.value for one in Verdict]:
        raise NoAnswer(f"The verdict is {str(verdict)[:50]!r}, and not one of {', '.join(Verdict)}.")
    if not isinstance(hypothesis, str) or len(hypothesis) > LONGEST_HYPOTHESIS or "\0" in hypothesis:
        raise NoAnswer(f"The hypothesis is no text of at most {LONGEST_HYPOTHESIS} characters.")
    return Answer(Verdict(verdict), _storable(hypothesis))


def _storable(text: str) -> str:
    """JSON may spell half a character, which no database keeps."""
    return text.encode("utf-8", "replace").decode()
