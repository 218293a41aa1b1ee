"""The MLPs that are compared. In each, the output of `act` is the activation that is read."""

# Shape suffixes: B batch, T tokens, D model width, F neurons (4 D), N blocks of G neurons, R rows of moments,
# E picked neurons.
import torch
from torch import Tensor, nn
from torch.nn import functional

from model_runner.architecture.config import MLPName, ModelConfig

NORM_EPS = 1e-5


class MLP(nn.Module):
    """What all have in common: a matrix up to the neurons and a matrix down from them."""

    act: nn.Module

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.width, config.hidden)
        self.down = nn.Linear(config.hidden, config.width)

    def activate(self, x_BTD: Tensor) -> Tensor:
        """The activations that are read, ranked and shown."""
        acts_BTF: Tensor = self.act(self.up(x_BTD))
        return acts_BTF

    def write(self, acts_BTF: Tensor) -> Tensor:
        """What the neurons add to the residual stream."""
        out_BTD: Tensor = self.down(acts_BTF)
        return out_BTD

    def forward(self, x_BTD: Tensor) -> Tensor:
        return self.write(self.activate(x_BTD))


class GeluMLP(MLP):
    """The baseline."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.act = nn.GELU()


class SoluMLP(MLP):
    """SoLU alone: the paper's costly ablation."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.act = Solu(config.n_blocks)


class SoluLnMLP(MLP):
    """The paper's proposal: SoLU, then a LayerNorm that gives the activations their size back."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.act = Solu(config.n_blocks)
        self.norm = BlockNorm(config.hidden, config.n_blocks)

    def write(self, acts_BTF: Tensor) -> Tensor:
        return super().write(self.norm(acts_BTF))


class GeluLnMLP(MLP):
    """The LayerNorm without SoLU: how much of the effect is the LayerNorm's."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.act = nn.GELU()
        self.norm = BlockNorm(config.hidden, config.n_blocks)

    def write(self, acts_BTF: Tensor) -> Tensor:
        return super().write(self.norm(acts_BTF))


class ExpLnMLP(MLP):
    """SoLU + LN with x * exp(x) in the softmax's place, to be trained like this and read as SoLU: see swap.py.

    The LayerNorm divides by what the softmax would have divided by. At one token the activations of the two
    are proportional; from token to token the factor differs, so activations are only compared after the swap.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.act = Exponential(config.n_blocks)
        self.norm = BlockNorm(config.hidden, config.n_blocks)

    def write(self, acts_BTF: Tensor) -> Tensor:
        return super().write(self.norm(acts_BTF))


MLPS: dict[MLPName, type[MLP]] = {
    "gelu": GeluMLP,
    "solu": SoluMLP,
    "solu_ln": SoluLnMLP,
    "gelu_ln": GeluLnMLP,
    "exp_ln": ExpLnMLP,
}


class Solu(nn.Module):
    """x * softmax(x), the softmax over each block of neurons at one token: neurons compete in their block."""

    def __init__(self, n_blocks: int = 1) -> None:
        super().__init__()
        self.n_blocks = n_blocks

    def forward(self, x_BTF: Tensor) -> Tensor:
        x_BTNG = blocked(x_BTF, self.n_blocks)
        return (x_BTNG * x_BTNG.softmax(dim=-1)).flatten(-2)


class Exponential(nn.Module):
    """x * exp(x - m), where m is the largest number of the token's block: nothing overflows, however large x is.

    It is SoLU(x) times the sum of exp(x - m) over the block, which lies between 1 and the block's neurons.
    """

    def __init__(self, n_blocks: int = 1) -> None:
        super().__init__()
        self.n_blocks = n_blocks

    def forward(self, x_BTF: Tensor) -> Tensor:
        x_BTNG = blocked(x_BTF, self.n_blocks)
        return (x_BTNG * (x_BTNG - x_BTNG.amax(dim=-1, keepdim=True)).exp()).flatten(-2)


def blocked(x_BTF: Tensor, n_blocks: int) -> Tensor:
    """The neurons cut into blocks, as a view (batch, tokens, blocks, neurons of a block)."""
    return x_BTF.view(*x_BTF.shape[:-1], n_blocks, -1)


class BlockNorm(nn.Module):
    """LayerNorm within each block of neurons, with one gain and one bias a neuron."""

    def __init__(self, hidden: int, n_blocks: int = 1) -> None:
        super().__init__()
        self.n_blocks = n_blocks
        self.weight = nn.Parameter(torch.ones(hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))

    def forward(self, x_BTF: Tensor) -> Tensor:
        if self.n_blocks == 1:
            return functional.layer_norm(x_BTF, x_BTF.shape[-1:], self.weight, self.bias, NORM_EPS)
        x_BTNG = blocked(x_BTF, self.n_blocks)
        normed_BTNG = functional.layer_norm(x_BTNG, x_BTNG.shape[-1:], eps=NORM_EPS)
        return normed_BTNG.flatten(-2) * self.weight + self.bias

    def moments(self, x_BTF: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and inverse deviation (batch, tokens, blocks) of each block of neurons at each token."""
        x_BTNG = blocked(x_BTF, self.n_blocks)
        mean_BTN = x_BTNG.mean(dim=-1)
        squares_BTN = torch.linalg.vector_norm(x_BTNG, dim=-1).square() / x_BTNG.shape[-1]
        return mean_BTN, (squares_BTN - mean_BTN.square()).clamp_(min=0).add_(NORM_EPS).rsqrt_()

    def at(self, x_ET: Tensor, moments: tuple[Tensor, Tensor], rows_E: Tensor, units_E: Tensor) -> Tensor:
        """What `forward` makes of single neurons (E, tokens) in rows of a batch with these moments.

        It differs in the last bits, since another formula gives the variance: by a few 1e-6 where a block's mean
        is up to its deviation, as SoLU's and GELU's are, and by 1e-4 where it is thirty times as large.
        """
        places_E = rows_E * self.n_blocks + units_E // (len(self.weight) // self.n_blocks)
        # A row of moments each, (batch * blocks, tokens): whole rows are picked several times as quickly as numbers.
        moments_RT = [moment_BTN.transpose(1, 2).flatten(0, 1) for moment_BTN in moments]
        mean_ET, inverse_ET = (moment_RT.index_select(0, places_E) for moment_RT in moments_RT)
        away_ET = mean_ET.neg_().add_(x_ET)
        return away_ET.mul_(inverse_ET).mul_(self.weight[units_E, None]).add_(self.bias[units_E, None])
