"""A byte-level BPE tokenizer: lossless for every text, BOS its only special token."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from model_runner.bounds import refuse_outside
from model_runner.errors import RunnerError

BOS = "<|bos|>"
KNOWN_BOS = (BOS, "<|BOS|>", "<|begin_of_text|>", "<bos>", "<s>", "[BOS]", "<|endoftext|>")
SMALLEST = 257
LARGEST = 1_000_000
"""Four times the largest in use."""


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """Learn a byte-level BPE with at most `vocabulary` tokens, BOS (id 0) and the 256 bytes included.

    The same texts in the same order give the same tokenizer. Raises RunnerError below 257 tokens.
    """
    if vocabulary < SMALLEST:
        raise RunnerError(f"A vocabulary of {vocabulary} cannot hold the 256 bytes and BOS. Give {SMALLEST} or more.")
    refuse_outside("The vocabulary", vocabulary, SMALLEST, LARGEST)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[BOS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return _plain(tokenizer)


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer.json. Raises RunnerError when it is not one or does not work on bytes."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower, not even for a missing file
        raise RunnerError(f"{path} is not a tokenizer.json that can be read ({error}).") from error
    if '"ByteLevel"' not in json.dumps(json.loads(tokenizer.to_str())["pre_tokenizer"]):
        raise RunnerError(f"{path} does not work on bytes, so that text would be lost. Give a byte-level tokenizer.")
    return _plain(tokenizer)


def _plain(tokenizer: Tokenizer) -> Tokenizer:
    """Specials that occur in a text are text, and a text is never cut or filled up."""
    tokenizer.encode_special_tokens = True
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def bos_id(tokenizer: Tokenizer) -> int:
    """The id of BOS: that of a known name which no text has for a token, or a new id after the last."""
    known = ((name, tokenizer.token_to_id(name)) for name in KNOWN_BOS)
    found = (number for name, number in known if number is not None and not _is_text(tokenizer, name, number))
    number = next(found, None)
    return _size(tokenizer) if number is None else number


def _is_text(tokenizer: Tokenizer, name: str, number: int) -> bool:
    """Whether a text gives this token: one that was learned from text of HTML may well hold <s>."""
    ids: list[int] = tokenizer.encode(name, add_special_tokens=False).ids
    return ids == [number]


def vocab_size(tokenizer: Tokenizer) -> int:
    """The number of ids, BOS included."""
    return max(_size(tokenizer), bos_id(tokenizer) + 1)


def token_bytes(tokenizer: Tokenizer) -> list[bytes]:
    """What each id stands for: of BOS and of ids that are not in use, nothing."""
    table = [b""] * vocab_size(tokenizer)
    for token, number in tokenizer.get_vocab(with_added_tokens=False).items():
        table[number] = _bytes_of(token)
    for number, added in tokenizer.get_added_tokens_decoder().items():
        # An added token is written as it is, and not byte by byte.
        table[number] = b"" if added.special else added.content.encode()
    table[bos_id(tokenizer)] = b""
    return table


def flatten(table: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """All bytes in one array, and the (V + 1,) offsets at which each token starts."""
    lengths = [len(content) for content in table]
    return np.frombuffer(b"".join(table), np.uint8), np.cumsum([0, *lengths], dtype=np.int64)


def digest(tokenizer: Tokenizer) -> str:
    """SHA-256 of what the tokenizer is: its JSON with sorted keys, and the id of BOS."""
    content = json.dumps([json.loads(tokenizer.to_str()), bos_id(tokenizer)], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _size(tokenizer: Tokenizer) -> int:
    vocabulary: dict[str, Any] = tokenizer.get_vocab(with_added_tokens=True)
    return max(vocabulary.values(), default=-1) + 1


def _bytes_of(token: str) -> bytes:
    if all(character in BYTE_OF for character in token):
        return bytes(BYTE_OF[character] for character in token)
    return token.encode()


def _byte_characters() -> dict[str, int]:
    """Which character stands for which byte: itself where it is printable Latin-1, else one from 256 on.

    Source: Radford et al. 2019, "Language models are unsupervised multitask learners", released encoder.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


BYTE_OF = _byte_characters()
