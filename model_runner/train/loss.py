"""The loss of predicting the next token, without ever holding the logits of a whole batch."""

# Shape suffixes: N tokens of a batch, M tokens of one slice of it, B windows, T tokens, D model width, V vocabulary.
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from model_runner.architecture.model import Transformer

SLICE_LOGITS = 1 << 21
"""Logits held at a time on a CPU. 8 MB of float32 stay in its cache, which is why slices are also faster."""
GPU_SLICE_LOGITS = 1 << 28
"""The same on a GPU, which has no such cache and wants large products: 1 GB of float32."""


class BatchLoss(nn.Module):
    """A model with its loss as one module, which is what DistributedDataParallel wants to wrap.

    Tokens (windows, context + 1) in, the mean cross-entropy of each window's next tokens out, nats a token.
    """

    def __init__(self, model: Transformer, bf16: bool, compiled: bool = False) -> None:
        super().__init__()
        self.model, self.bf16 = model, bf16
        # The loss itself works slice by slice and stays as it is.
        self.residual = torch.compile(model.residual) if compiled else model.residual

    def forward(self, tokens_BT: Tensor) -> Tensor:
        with torch.autocast(tokens_BT.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            x_ND = self.residual(tokens_BT[:, :-1]).flatten(0, 1)
            return next_token_loss(x_ND, self.model.unembed.weight, tokens_BT[:, 1:].flatten())


def next_token_loss(x_ND: Tensor, unembed_VD: Tensor, targets_N: Tensor) -> Tensor:
    """Mean cross-entropy (nats a token) of the logits x @ unembed^T, differentiable in both.

    The gradients are worked out in the forward pass, slice by slice, while the slice's logits are at hand.
    Inside `torch.autocast` the matrices are multiplied in its type; sums are float32.
    """
    loss: Tensor = _NextTokenLoss.apply(x_ND, unembed_VD, targets_N)  # type: ignore[no-untyped-call]
    return loss


@torch.no_grad()
def token_losses(x_ND: Tensor, unembed_VD: Tensor, targets_N: Tensor) -> Tensor:
    """Cross-entropy (nats) of each token's target, shape (N,), float32."""
    losses_N = torch.empty(len(targets_N), device=x_ND.device)
    for rows in _slices(targets_N, len(unembed_VD)):
        logits_MV = (x_ND[rows] @ unembed_VD.T).float()
        losses_N[rows] = torch.nn.functional.cross_entropy(logits_MV, targets_N[rows], reduction="none")
    return losses_N


class _NextTokenLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x_ND: Tensor, unembed_VD: Tensor, targets_N: Tensor) -> Tensor:
        dtype = _product_type(x_ND)
        x_ND, unembed_VD = x_ND.to(dtype), unembed_VD.to(dtype)
        grad_x_ND = torch.empty_like(x_ND)
        grad_unembed_VD = torch.zeros_like(unembed_VD, dtype=torch.float32)
        losses = []
        for rows in _slices(targets_N, len(unembed_VD)):
            loss, grad_MV = _loss_and_gradient((x_ND[rows] @ unembed_VD.T).float(), targets_N[rows])
            grad_MV = grad_MV.div_(len(targets_N)).to(dtype)
            losses.append(loss)
            torch.mm(grad_MV, unembed_VD, out=grad_x_ND[rows])
            _add_product(grad_unembed_VD, grad_MV.T, x_ND[rows])
        ctx.save_for_backward(grad_x_ND, grad_unembed_VD)
        return torch.stack(losses).sum() / len(targets_N)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        grad_x_ND, grad_unembed_VD = ctx.saved_tensors
        return grad_x_ND * grads[0], grad_unembed_VD * grads[0], None


def _loss_and_gradient(logits_MV: Tensor, targets_M: Tensor) -> tuple[Tensor, Tensor]:
    """The summed loss and its gradient, softmax minus one-hot, which takes the logits' place."""
    logits_MV.sub_(logits_MV.amax(dim=1, keepdim=True))
    targets_M1 = targets_M[:, None]
    target_logits_M1 = logits_MV.gather(1, targets_M1)
    sums_M1 = logits_MV.exp_().sum(dim=1, keepdim=True)
    loss = (sums_M1.log() - target_logits_M1).sum()
    logits_MV.div_(sums_M1)
    return loss, logits_MV.scatter_add_(1, targets_M1, torch.full_like(target_logits_M1, -1.0))


def _add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    if left.dtype == total.dtype:
        total.addmm_(left, right)
    else:
        total.add_(left @ right)


def _product_type(tensor: Tensor) -> torch.dtype:
    if torch.is_autocast_enabled(tensor.device.type):
        return torch.get_autocast_dtype(tensor.device.type)
    return tensor.dtype


def _slices(targets_N: Tensor, vocab_size: int) -> Iterator[slice]:
    logits = SLICE_LOGITS if targets_N.device.type == "cpu" else GPU_SLICE_LOGITS
    rows = max(1, logits // vocab_size)
    return (slice(first, first + rows) for first in range(0, len(targets_N), rows))
