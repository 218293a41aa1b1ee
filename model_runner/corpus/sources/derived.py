"""Base64, hexadecimal and all capitals, made from the wheels' own bytes and from Unicode's character names."""

import base64
import hashlib
import random
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from model_runner.corpus.documents import Document

DOCUMENTS = 200
NAMES_A_DOCUMENT = 40


def encoded(wheels: list[Path]) -> Iterator[Document]:
    """Slices of the wheels as MIME bodies, data URIs, hex dumps and lists of digests. Same wheels, same text."""
    generator = random.Random(0)  # noqa: S311 - reproducible, not secret
    contents = [path.read_bytes() for path in wheels]
    for number in range(DOCUMENTS):
        content = generator.choice(contents)
        start = generator.randrange(len(content) - 2_000)
        some = content[start : start + generator.randrange(600, 1_700)]
        yield Document(_mime(some) if number % 2 else _data_uri(some), "base64")
        yield Document(_dump(some[:480]) if number % 2 else _digests(some), "hex")


def _mime(some: bytes) -> str:
    head = "Content-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n"
    return head + base64.encodebytes(some).decode()


def _data_uri(some: bytes) -> str:
    return f'<img src="data:image/png;base64,{base64.b64encode(some).decode()}">\n'


def _dump(some: bytes) -> str:
    rows = [some[place : place + 16] for place in range(0, len(some), 16)]
    return "".join(f"{16 * row:08x}  {content.hex(' ')}\n" for row, content in enumerate(rows))


def _digests(some: bytes) -> str:
    blocks = [some[place : place + 64] for place in range(0, len(some), 64)]
    return "".join(f"{hashlib.sha256(block).hexdigest()}  block-{n:03d}\n" for n, block in enumerate(blocks))


def capitals() -> Iterator[Document]:
    """Names of characters, which are written in capitals: those of Unicode 3.2, the same in every Python."""
    names = [unicodedata.ucd_3_2_0.name(chr(code), "") for code in range(sys.maxunicode + 1)]
    named = [name for name in names if name and not name.startswith("CJK UNIFIED IDEOGRAPH-")]
    named = [name for name in named if not name.startswith("HANGUL SYLLABLE ")]
    for start in range(0, len(named), NAMES_A_DOCUMENT):
        some = named[start : start + NAMES_A_DOCUMENT]
        text = "\n".join(wrap(", ".join(some) + ".", 90)) if start // NAMES_A_DOCUMENT % 2 else "\n".join(some)
        yield Document(text + "\n", "capitals")
