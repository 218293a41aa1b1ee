"""A checkpoint as lm-evaluation-harness sees a language model."""

# Shape suffixes: B texts, T tokens, N tokens that are predicted, M of one slice, D model width, V vocabulary.
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lm_eval.api.instance import Instance
from lm_eval.api.model import TemplateLM
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from model_runner.checkpoint import Checkpoint, load_checkpoint
from model_runner.corpus.names import TOKENIZER
from model_runner.errors import RunnerError
from model_runner.evaluation.windows import Window, window_scores, windows_of
from model_runner.progress import progress, track
from model_runner.tokenizer import bos_id, digest, load_tokenizer, token_bytes

LONGEST_ANSWER = 64
"""Tokens that are generated where a task sets no limit."""
SLICE_TOKENS = 512
TOGETHER = 256
"""Requests whose windows are sorted by length together."""
Encoded = tuple[tuple[str, str], list[int], list[int]]
"""A request's two texts, and the tokens of its context and of its continuation."""


class CheckpointLM(TemplateLM):  # type: ignore[misc]
    """What the harness asks of a model, from a checkpoint and its tokenizer.

    BOS is read before every text, as in training, and its being predicted ends a text. Texts are read in float32.
    """

    def __init__(self, checkpoint: Checkpoint, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.checkpoint = checkpoint
        self.words = tokenizer
        self.bos = bos_id(tokenizer)
        self.bytes_V = token_bytes(tokenizer)

    @property
    def eot_token_id(self) -> int:
        return self.bos

    @property
    def max_length(self) -> int:
        """Tokens that the model reads at most, BOS included."""
        return self.checkpoint.config.context

    def tok_encode(self, string: str, add_special_tokens: bool | None = None, **_: Any) -> list[int]:
        """The tokens of a text, BOS before them unless `add_special_tokens` is False."""
        tokens: list[int] = self.words.encode(string, add_special_tokens=False).ids
        return tokens if add_special_tokens is False else [self.bos, *tokens]

    def tok_decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens. Bytes that are not whole characters become U+FFFD."""
        return b"".join(self.bytes_V[token] for token in tokens).decode(errors="replace")

    def _loglikelihood_tokens(self, requests: Sequence[Encoded], **_: Any) -> list[tuple[float, bool]]:
        """For each continuation: its log-likelihood (nats, at most 0), and whether it is what greedy reading says.

        A context that is too long loses its beginning, as in the harness's own models. Raises RunnerError for a
        continuation that is longer than the model reads.
        """
        windows = [_window(context, continuation, self.max_length) for _, context, continuation in requests]
        answers: list[tuple[float, bool]] = []
        with progress("Scoring", len(windows), "requests") as bar:
            for first in range(0, len(windows), TOGETHER):
                some = windows[first : first + TOGETHER]
                answers += [
                    (-_sum(scores_N2), bool(scores_N2[:, 1].all()))
                    for scores_N2 in window_scores(self.checkpoint.model, some, losses_and_hits)
                ]
                bar.advance(len(some))
        self._remember("loglikelihood", [texts for texts, _, _ in requests], answers)
        return answers

    def loglikelihood_rolling(self, requests: Sequence[Instance], **_: Any) -> list[float]:
        """The log-likelihood (nats) of each whole text, cut into the windows that `glance-runner evaluate` reads."""
        texts = [request.args[0] for request in requests]
        answers = [self._text(text) for text in track(texts, "Reading", len(texts), "texts")]
        self._remember("loglikelihood_rolling", [(text,) for text in texts], answers)
        return answers

    def generate_until(self, requests: Sequence[Instance], **_: Any) -> list[str]:
        """What the model says after each context, the likeliest token at a time, up to a stop or BOS.

        Every token is computed from the last `max_length` tokens anew: the models are small. Raises RunnerError
        for a task that wants drawn answers.
        """
        asked = [request.args for request in requests]
        answers = [self._answer(context, wishes) for context, wishes in track(asked, "Answering", len(asked), "texts")]
        self._remember("generate_until", asked, answers)
        return answers

    def _text(self, text: str) -> float:
        windows = windows_of(self.tok_encode(text, add_special_tokens=False), self.bos, self.max_length)
        return -sum(map(_sum, window_scores(self.checkpoint.model, windows, losses_and_hits)))

    def _answer(self, context: str, wishes: dict[str, Any]) -> str:
        if wishes.get("do_sample") and wishes.get("temperature", 1.0) > 0:
            raise RunnerError(f"A task asks for drawn answers ({wishes}); only the likeliest can be given: do_sample.")
        stops = [wishes["until"]] if isinstance(wishes.get("until"), str) else list(wishes.get("until") or [])
        tokens = self.tok_encode(context)
        said: list[int] = []
        while len(said) < int(wishes.get("max_gen_toks", LONGEST_ANSWER)):
            token = self._next(tokens + said)
            if token == self.bos:
                break
            said.append(token)
            if any(stop in self.tok_decode(said) for stop in stops if stop):
                break
        return _before(self.tok_decode(said), stops)

    @torch.no_grad()
    def _next(self, tokens: Sequence[int]) -> int:
        model = self.checkpoint.model
        x_BTD = model.residual(torch.tensor([tokens[-self.max_length :]]))
        return int((x_BTD[0, -1] @ model.unembed.weight.T).argmax())

    def _remember(self, kind: str, asked: Sequence[Any], answers: Sequence[Any]) -> None:
        """For the harness's cache of answers, where one is used."""
        for one, answer in zip(asked, answers, strict=True):
            self.cache_hook.add_partial(kind, one, answer)


def open_language_model(folder: Path) -> CheckpointLM:
    """The model of a finished checkpoint with the tokenizer that lies beside it.

    Raises RunnerError when either is missing or damaged, or the tokenizer is another than the model was trained with.
    """
    checkpoint = load_checkpoint(folder)
    tokenizer = load_tokenizer(folder / TOKENIZER)
    if digest(tokenizer) != checkpoint.train.tokenizer_digest:
        raise RunnerError(
            f"{folder / TOKENIZER} is not the tokenizer that the model was trained with. "
            "Copy it there from the corpus that it was trained on."
        )
    return CheckpointLM(checkpoint, tokenizer)


def losses_and_hits(x_ND: Tensor, unembed_VD: Tensor, targets_N: Tensor) -> Tensor:
    """(N, 2) for each target: its cross-entropy (nats), and 1 where it is the likeliest token, else 0."""
    scores_N2 = torch.empty(len(targets_N), 2)
    for rows in (slice(first, first + SLICE_TOKENS) for first in range(0, len(targets_N), SLICE_TOKENS)):
        logits_MV = x_ND[rows] @ unembed_VD.T
        scores_N2[rows, 0] = torch.nn.functional.cross_entropy(logits_MV, targets_N[rows], reduction="none")
        scores_N2[rows, 1] = (logits_MV.argmax(dim=1) == targets_N[rows]).float()
    return scores_N2


def _sum(scores_N2: NDArray[np.float32]) -> float:
    return float(scores_N2[:, 0].sum(dtype=np.float64))


def _window(context: Sequence[int], continuation: Sequence[int], longest: int) -> Window:
    if len(continuation) > longest:
        raise RunnerError(
            f"A task has a continuation of {len(continuation)} tokens; the model reads {longest} at a time. "
            "Take a task with shorter ones, or a model with a longer context."
        )
    return Window([*context, *continuation][-(longest + 1) :], len(continuation))


def _before(text: str, stops: Sequence[str]) -> str:
    ends = [text.index(stop) for stop in stops if stop and stop in text]
    return text[: min(ends)] if ends else text
