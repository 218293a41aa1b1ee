"""Causal self-attention, with rotary positions unless the model's are learned. Some heads may read a window only."""

# Shape suffixes: B batch, T tokens, D model width, H heads, E head width (D / H), C context,
# A heads of all windows (B H), N blocks of W tokens, K keys of a block (2 W).
import torch
from torch import Tensor, nn
from torch.nn import functional

from model_runner.architecture.config import ModelConfig


class Attention(nn.Module):
    """Every token reads the tokens up to itself; with rotary positions only their distance counts.

    The first `local_heads` heads of a layer read the last `local_window` of them: dense and local heads are
    mixed in every layer, as in the paper.
    """

    cosines: Tensor
    sines: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.local_heads, self.local_window = config.local_heads, config.local_window
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
        out_BTD: Tensor = self.out(self._read(q_BHTE, k_BHTE, v_BHTE).transpose(1, 2).flatten(-2))
        return out_BTD

    def _read(self, q_BHTE: Tensor, k_BHTE: Tensor, v_BHTE: Tensor) -> Tensor:
        local = self.local_heads if self.local_window < q_BHTE.shape[2] else 0
        if local == 0:
            return read_all(q_BHTE, k_BHTE, v_BHTE)
        near_BHTE = read_near(q_BHTE[:, :local], k_BHTE[:, :local], v_BHTE[:, :local], self.local_window)
        if local == self.heads:
            return near_BHTE
        return torch.cat([near_BHTE, read_all(q_BHTE[:, local:], k_BHTE[:, local:], v_BHTE[:, local:])], dim=1)


def read_all(q_BHTE: Tensor, k_BHTE: Tensor, v_BHTE: Tensor) -> Tensor:
    """What each query reads of the values up to itself: (batch, heads, tokens, head width), as the inputs are."""
    return functional.scaled_dot_product_attention(q_BHTE, k_BHTE, v_BHTE, is_causal=True)


def read_near(q_BHTE: Tensor, k_BHTE: Tensor, v_BHTE: Tensor, window: int) -> Tensor:
    """What each query reads of the `window` last values up to itself; shapes as in `read_all`.

    Queries go in blocks of `window`, each against the keys of its block and of the block before, so that
    the cost grows with tokens x window and not with tokens squared (Child et al. 2019; Beltagy et al. 2020).
    """
    tokens = q_BHTE.shape[2]
    q_ANWE, k_ANWE, v_ANWE = (_in_blocks(part, window) for part in (q_BHTE, k_BHTE, v_BHTE))
    mask_NWK = _near(q_ANWE.shape[1], window, q_BHTE.device)
    read_ANWE = functional.scaled_dot_product_attention(
        q_ANWE, _with_block_before(k_ANWE), _with_block_before(v_ANWE), attn_mask=mask_NWK
    )
    return read_ANWE.flatten(1, 2)[:, :tokens].reshape(q_BHTE.shape)


def _in_blocks(x_BHTE: Tensor, window: int) -> Tensor:
    """Whole blocks; what fills up the last one comes after every token and so is read by none."""
    filled = functional.pad(x_BHTE, (0, 0, 0, -x_BHTE.shape[2] % window))
    return filled.reshape(-1, filled.shape[2] // window, window, filled.shape[3])


def _with_block_before(x_ANWE: Tensor) -> Tensor:
    before_ANWE = functional.pad(x_ANWE, (0, 0, 0, 0, 1, 0))[:, :-1]
    return torch.cat([before_ANWE, x_ANWE], dim=2)


def _near(blocks: int, window: int, device: torch.device) -> Tensor:
    """Which of its 2 x window keys each query may read: at most `window`, and nothing before the first token."""
    queries_W1 = torch.arange(window, device=device)[:, None]
    keys_K = torch.arange(2 * window, device=device)
    mask_NWK = ((keys_K > queries_W1) & (keys_K <= queries_W1 + window)).repeat(blocks, 1, 1)
    mask_NWK[0, :, :window] = False
    return mask_NWK


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
