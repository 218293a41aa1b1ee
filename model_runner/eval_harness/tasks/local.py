"""Reads the tasks' questions from the files beside this one: no cache, no network."""

import json
from pathlib import Path
from typing import Any

import datasets

Row = dict[str, Any]


def last_word(**_: Any) -> datasets.DatasetDict:
    """Passages whose last word is asked for."""
    return _read("last_word.jsonl")


def arithmetic(**_: Any) -> datasets.DatasetDict:
    """Sums and differences of numbers of one and two digits."""
    return _read("arithmetic.jsonl")


def _read(name: str) -> datasets.DatasetDict:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return datasets.DatasetDict({"test": datasets.Dataset.from_list([json.loads(line) for line in lines])})
