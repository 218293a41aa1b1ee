"""A foreign model's tokenizer, made fit for building a corpus."""

import json
from pathlib import Path

from tokenizers import Tokenizer

from model_runner import tokenizer as bpe
from model_runner.errors import RunnerError
from model_runner.files import write_atomically
from model_runner.words import counted

TOKENIZER = "tokenizer.json"
BYTES = 256


def keep_tokenizer(tokenizer: Tokenizer, folder: Path, vocab_size: int) -> str:
    """Write tokenizer.json beside an imported model and return the digest that corpora made with it record.

    Unicode normalisation (NFC, as in GPT-NeoX) is taken out: it changes nothing in text that is normalised
    already, and in other text it would lose what was written. Raises RunnerError for a tokenizer that does not
    work on bytes, and for one whose ids or BOS the model, with `vocab_size` embeddings, does not know.
    """
    path = folder / TOKENIZER
    write_atomically(path, json.dumps(_without_nfc(json.loads(tokenizer.to_str())), ensure_ascii=False).encode())
    kept = bpe.load_tokenizer(path)
    known = kept.get_vocab_size(with_added_tokens=True)
    if known < BYTES:
        # What transformers makes up where a folder holds no tokenizer.
        path.unlink()
        raise RunnerError(
            f"The tokenizer has {counted(known, 'token')}, not even one a byte: none lies beside the model, or it is "
            "damaged. Give the model's own with --tokenizer."
        )
    if bpe.bos_id(kept) >= vocab_size or bpe.vocab_size(kept) > vocab_size:
        path.unlink()
        raise RunnerError(
            f"The tokenizer has {known:,} tokens and BOS {bpe.bos_id(kept)}, and the model knows ids below "
            f"{vocab_size:,}. Give the model's own with --tokenizer; it needs one of {', '.join(bpe.KNOWN_BOS)}."
        )
    return bpe.digest(kept)


def _without_nfc(content: dict[str, object]) -> dict[str, object]:
    normalizer = content.get("normalizer")
    is_nfc = isinstance(normalizer, dict) and normalizer.get("type") == "NFC"
    return {**content, "normalizer": None} if is_nfc else content
