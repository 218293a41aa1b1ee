"""Content-defined chunks: where a chunk ends depends on the text near its end and on nothing far away.

So a paragraph that stands in 200 documents makes the same chunk in all of them, whatever surrounds it.
"""

import re
from zlib import crc32

from model_runner.corpus.cutting import pieces

PARAGRAPH_GAP = re.compile(r"\n\s*\n")
SENTENCE_GAP = re.compile(r"\n|(?<!\d)[.!?]['\")\]]*\s+|[。！？।]")
WORD_GAP = re.compile(r"\s+")
# Chinese and Japanese are written without spaces: there each character counts as a word.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
ALONE_WORDS = 24
LONG_WORDS = 120
JOINED = 4
WORDS_JOINED = 64


def chunk(text: str) -> list[tuple[str, list[int]]]:
    """Chunks that join to the text, each with the hashes of its words in order.

    A paragraph of 24 to 120 words is a chunk. Shorter ones are joined, four or so at a time; longer ones
    are cut at the ends of sentences and lines, and of words where there are none.
    """
    found: list[tuple[str, list[int]]] = []
    for paragraph in pieces(text, PARAGRAPH_GAP):
        words = word_hashes(paragraph)
        found += [(paragraph, words)] if len(words) <= LONG_WORDS else _cut(paragraph)
    # A chunk without words is like another only when it is the same.
    return [(part, words or [crc32(part.encode())]) for part, words in _joined(found, ALONE_WORDS, JOINED)]


def word_hashes(text: str) -> list[int]:
    """A 32-bit hash of each word, capitals and punctuation aside."""
    return [crc32(word.encode()) for word in WORD.findall(text.casefold())]


def _cut(paragraph: str) -> list[tuple[str, list[int]]]:
    found: list[tuple[str, list[int]]] = []
    for sentence in pieces(paragraph, SENTENCE_GAP):
        words = word_hashes(sentence)
        if len(words) <= LONG_WORDS:
            found.append((sentence, words))
        else:
            single = [(word, word_hashes(word)) for word in pieces(sentence, WORD_GAP)]
            found += _joined(single, LONG_WORDS, WORDS_JOINED)
    return _joined(found, LONG_WORDS // 2, JOINED)


def _joined(parts: list[tuple[str, list[int]]], alone: int, about: int) -> list[tuple[str, list[int]]]:
    """Neighbours joined, except at those of `alone` words or more and after one in `about`, told by its hash."""
    found: list[tuple[list[str], list[int]]] = []
    open_ended = False
    for text, words in parts:
        by_itself = len(words) >= alone
        if open_ended and not by_itself:
            found[-1][0].append(text)
            found[-1][1].extend(words)
        else:
            found.append(([text], list(words)))
        open_ended = not by_itself and (not words or sum(words) % about != 0)
    return [("".join(texts), words) for texts, words in found]
