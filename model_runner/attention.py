"""Causal self-attention, with rotary positions unless the model's are learned."""

# Shape suffixes: B batch, T tokens, D model width, H heads, E head width (D / H), C context.
import torch
from torch import Tensor, nn
from torch.nn import functional

from model_runner.config import ModelConfig


class Attention(nn.Module):
    """Every token reads the tokens up to itself; with rotary positions only their distance counts."""

    cosines: Tensor
    sines: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.rotary = config.positions == "rotary"
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)
        cos_CE, sin_CE = rotary_angles(config.context, config.head_width, config.rotary_base)
        self.register_buffer("cosines", cos_CE, persistent=False)
        self.register_buffer("sines", sin_CE, persistent=False)

    def forward(self, x_BTD: Tensor) -> Tensor:
        q_BHTE, k_BHTE, v_BHTE = (
            part_BTD.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part_BTD in self.qkv(x_BTD).chunk(3, dim=-1)
        )
        if self.rotary:
            cos_TE, sin_TE = self.cosines[: x_BTD.shape[1]], self.sines[: x_BTD.shape[1]]
            q_BHTE, k_BHTE = rotate(q_BHTE, cos_TE, sin_TE), rotate(k_BHTE, cos_TE, sin_TE)
        read_BHTE = functional.scaled_dot_product_attention(q_BHTE, k_BHTE, v_BHTE, is_causal=True)
        out_BTD: Tensor = self.out(read_BHTE.transpose(1, 2).flatten(-2))
        return out_BTD


def rotary_angles(context: int, head_width: int, base: float) -> tuple[Tensor, Tensor]:
    """Cosines and sines (context, head_width) of position times frequency; Su et al. 2021, equation 15.

    The first half of a head's numbers is paired with the second half, and a pair turns with one frequency.
    """
    frequencies = base ** (-torch.arange(0, head_width, 2, dtype=torch.float64) / head_width)
    angles = torch.arange(context, dtype=torch.float64)[:, None] * frequencies
    angles_CE = torch.cat([angles, angles], dim=-1)
    return angles_CE.cos().float(), angles_CE.sin().float()


def rotate(x_BHTE: Tensor, cos_TE: Tensor, sin_TE: Tensor) -> Tensor:
    """Turn each pair of numbers by the angle of its position."""
    first, second = x_BHTE.chunk(2, dim=-1)
    return x_BHTE * cos_TE + torch.cat([-second, first], dim=-1) * sin_TE
