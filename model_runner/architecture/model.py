"""A decoder-only transformer in the style of the SoLU paper: pre-LN, untied unembedding."""

# Shape suffixes: B batch, T tokens, D model width, F neurons (4 D), V vocabulary.
import hashlib
from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor, nn

from model_runner.architecture.attention import Attention
from model_runner.architecture.config import ModelConfig
from model_runner.architecture.mlp import MLP, MLPS, NORM_EPS
from model_runner.subject import After, TakeLayer

EMBEDDING_SPREADS = {"embed.weight": 0.3, "positions.weight": 0.02, "unembed.weight": 0.02}
"""Standard deviations of the embeddings' initial numbers."""


class Block(nn.Module):
    """Attention, then an MLP, each added to the residual stream."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm_1 = nn.LayerNorm(config.width, eps=NORM_EPS)
        self.attention = Attention(config)
        self.norm_2 = nn.LayerNorm(config.width, eps=NORM_EPS)
        self.mlp: MLP = MLPS[config.mlp](config)

    def attend(self, x_BTD: Tensor) -> Tensor:
        out_BTD: Tensor = x_BTD + self.attention(self.norm_1(x_BTD))
        return out_BTD

    def activate(self, x_BTD: Tensor) -> Tensor:
        return self.mlp.activate(self.norm_2(x_BTD))

    def forward(self, x_BTD: Tensor) -> Tensor:
        x_BTD = self.attend(x_BTD)
        return x_BTD + self.mlp.write(self.activate(x_BTD))


class Transformer(nn.Module):
    """Tokens in, logits of the next token out."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.width)
        self.positions = nn.Embedding(config.context, config.width) if config.positions == "learned" else None
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.final_norm = nn.LayerNorm(config.width, eps=NORM_EPS)
        self.unembed = nn.Linear(config.width, config.vocab_size, bias=False)

    @property
    def norms(self) -> list[After | None]:
        """The post-activation LayerNorm of each layer, where there is one."""
        return [getattr(cast(Block, block).mlp, "norm", None) for block in self.blocks]

    @property
    def device(self) -> torch.device:
        return self.embed.weight.device

    def forward(self, tokens_BT: Tensor) -> Tensor:
        logits_BTV: Tensor = self.unembed(self.residual(tokens_BT))
        return logits_BTV

    def embedded(self, tokens_BT: Tensor) -> Tensor:
        """The residual stream before the first block."""
        x_BTD: Tensor = self.embed(tokens_BT)
        return x_BTD if self.positions is None else x_BTD + self.positions.weight[: tokens_BT.shape[1]]

    def residual(self, tokens_BT: Tensor) -> Tensor:
        """The normed residual stream that the unembedding reads."""
        x_BTD = self.embedded(tokens_BT)
        for block in self.blocks:
            x_BTD = block(x_BTD)
        out_BTD: Tensor = self.final_norm(x_BTD)
        return out_BTD

    def activations(self, tokens_BT: Tensor, layers: int | None = None) -> Iterator[Tensor]:
        """Yield the neurons' activations (batch, tokens, neurons) of each of the first `layers` layers.

        What comes after the last of them, the unembedding included, is never computed. The numbers are
        those of `forward`, to the last bit, on a batch of the same shape.
        """
        last = (self.config.layers if layers is None else layers) - 1
        x_BTD = self.embedded(tokens_BT)
        for layer, block in enumerate(self.blocks[: last + 1]):
            x_BTD, acts_BTF = _activate(cast(Block, block), x_BTD)
            yield acts_BTF
            if layer < last:
                x_BTD = x_BTD + cast(Block, block).mlp.write(acts_BTF)

    def read(self, tokens_BT: Tensor, take: TakeLayer) -> None:
        """Give each layer's activations to `take` before the next layer is computed."""
        for layer, acts_BTF in enumerate(self.activations(tokens_BT)):
            take(layer, acts_BTF)


def _activate(block: Block, x_BTD: Tensor) -> tuple[Tensor, Tensor]:
    x_BTD = block.attend(x_BTD)
    return x_BTD, block.activate(x_BTD)


def new_model(config: ModelConfig, seed: int) -> Transformer:
    """A model with its initial weights, in which every arm starts as the same function.

    What attention and MLP write is zero at first; docs/decisions/ says why. Each tensor is drawn from
    a generator of its own, seeded by `seed` and the tensor's name, so that arms which share a tensor
    share its numbers whatever else they have.
    """
    with torch.random.fork_rng(devices=[]):
        model = Transformer(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            _initialise(name, parameter, generator_for(seed, name))
    return model


def generator_for(seed: int, name: str) -> torch.Generator:
    """A generator whose numbers depend on the seed and on what they are for."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)


def _initialise(name: str, parameter: Tensor, generator: torch.Generator) -> None:
    if name.endswith(("bias", "attention.out.weight", "mlp.down.weight")):
        parameter.zero_()
    elif "norm" in name:
        parameter.fill_(1.0)
    elif name in EMBEDDING_SPREADS:
        parameter.normal_(0.0, EMBEDDING_SPREADS[name], generator=generator)
    else:
        parameter.normal_(0.0, parameter.shape[1] ** -0.5, generator=generator)
