"""SoLU + LN in its two forms: trained with one, read with the other. The weights are the same numbers."""

import dataclasses
from pathlib import Path

from model_runner.architecture.config import MLPName
from model_runner.architecture.model import Transformer
from model_runner.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from model_runner.corpus.names import TOKENIZER
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.evaluation.evaluate import held_out_loss, held_out_stream
from model_runner.files import make_folder, write_atomically
from model_runner.occupied import refuse_occupied

OTHER_FORM: dict[MLPName, MLPName] = {"exp_ln": "solu_ln", "solu_ln": "exp_ln"}


def swap(model: Transformer) -> Transformer:
    """The same weights as LN(SoLU(x)) where they were LN(x * exp(x)), and the other way round.

    LayerNorm is scale-invariant but for its eps: with s the sum of exp(x - max x) over a block, LN(SoLU(x))
    with eps is LN(x * exp(x - max x)) with eps * s^2. Where a softmax is flat, s is large and the two differ.
    Source: Elhage et al. 2022, "Softmax Linear Units". Raises RunnerError for an MLP that has one form only.
    """
    if model.config.mlp not in OTHER_FORM:
        raise RunnerError(
            f"An MLP called {model.config.mlp} has no other form; {' and '.join(OTHER_FORM)} are two of one."
        )
    swapped = Transformer(dataclasses.replace(model.config, mlp=OTHER_FORM[model.config.mlp]))
    swapped.load_state_dict(model.state_dict())
    return swapped.eval().requires_grad_(False).to(model.device)


def swap_checkpoint(folder: Path, out: Path, corpus: Corpus) -> Checkpoint:
    """Rewrite a checkpoint in its other form. Its held-out loss (nats a token) is read again from `corpus`.

    Raises RunnerError when `out` holds a checkpoint or something else already, and when the corpus has another
    tokenizer.
    """
    refuse_occupied(out)
    given = load_checkpoint(folder)
    if corpus.info.tokenizer_digest != given.train.tokenizer_digest:
        raise RunnerError(f"{corpus.folder} has another tokenizer than {folder} was trained with.")
    swapped = swap(given.model)
    stream = held_out_stream(corpus, given.config.context)
    loss = held_out_loss(swapped, stream, given.train.train.get("validation_tokens", stream.length))
    make_folder(out)
    if (folder / TOKENIZER).is_file():
        write_atomically(out / TOKENIZER, (folder / TOKENIZER).read_bytes())
    # The training loss was read in the other form, and is nobody's now.
    record = dataclasses.replace(given.train, loss=None, val_loss=loss, swapped_from=given.digest)
    return save_checkpoint(out, swapped, record)
