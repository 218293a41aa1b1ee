"""Makes the questions of the shipped tasks: `python -m model_runner.eval_harness.make_tasks --corpus var/corpus`.

The passages are of the public domain (Shakespeare's plays, the World English Bible) and of the corpus's held-out
split, which no model is trained on. The same corpus and seed make the same files.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from model_runner.corpus.store import Corpus, open_corpus
from model_runner.files import write_atomically

TASKS = Path(__file__).parent / "tasks"
PARTS = ("plays", "scripture")
"""Parts whose text is in the public domain, so that it may be shipped."""
PASSAGES, SUMS = 150, 150
WORDS = 45, 120
"""Of a passage."""
LEAST_LETTERS = 6
"""Shorter words are mostly the ones that every text is full of."""
WORD = re.compile(r"[A-Za-z']+")


def passages(corpus: Corpus) -> Iterator[str]:
    """Passages of whole words, the last of each a plain word that occurred in it before.

    LAMBADA (Paperno et al. 2016) chose passages whose last word people guess from the whole and not from the last
    sentence. Nobody guessed here; that the word was said before is what a program can check of it.
    """
    for document in corpus.in_split("heldout", PARTS):
        words = corpus.text(int(document)).split()
        while len(words) > WORDS[0]:
            ends = [end for end in range(WORDS[0], min(len(words), WORDS[1])) if _guessable(words[: end + 1])]
            length = ends[0] + 1 if ends else WORDS[1]
            if ends:
                yield " ".join(words[:length])
            words = words[length:]


def sums(seed: int) -> list[dict[str, str]]:
    """Different sums and differences of two numbers below 100, none negative, drawn with a seed."""
    rng = np.random.default_rng(seed)
    found: dict[str, str] = {}
    while len(found) < SUMS:
        largest = 10 if len(found) < SUMS // 3 else 100
        one, other = (int(number) for number in rng.integers(0, largest, 2))
        if rng.random() < 0.5:
            found[f"Question: What is {one} plus {other}?\nAnswer:"] = f" {one + other}"
        else:
            one, other = max(one, other), min(one, other)
            found[f"Question: What is {one} minus {other}?\nAnswer:"] = f" {one - other}"
    return [{"context": context, "completion": completion} for context, completion in found.items()]


def _guessable(words: Sequence[str]) -> bool:
    """Whether the last word is a plain one that the passage has said, but not just before."""
    last = words[-1]
    if not WORD.fullmatch(last) or len(last) < LEAST_LETTERS:
        return False
    earlier = [found for word in words[:-8] for found in WORD.findall(word)]
    return last in earlier and earlier.count(last) <= 3  # A word said everywhere is guessed from nothing.


def _write(name: str, rows: Sequence[dict[str, str]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    write_atomically(TASKS / name, ("\n".join(lines) + "\n").encode())
    sys.stdout.write(f"{TASKS / name}: {len(rows)} questions\n")


def main() -> None:
    """Write both files of questions beside the tasks."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="the default corpus")
    parser.add_argument("--seed", type=int, default=0, help="of the sums (default: 0)")
    options = parser.parse_args()
    found = [{"text": text} for text in passages(open_corpus(options.corpus))]
    _write("last_word.jsonl", found[:PASSAGES])
    _write("arithmetic.jsonl", sums(options.seed))


if __name__ == "__main__":
    main()
