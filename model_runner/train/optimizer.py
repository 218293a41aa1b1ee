"""AdamW with the recipe of the public SoLU models: which tensor gets which rate, and the rate's course."""

import math

import torch
from torch import nn

from model_runner.architecture.config import TrainConfig
from model_runner.architecture.model import Transformer

RECIPE_WIDTH = 256
"""The width at which TrainConfig.learning_rate is the matrices' rate."""


def new_optimizer(model: Transformer, config: TrainConfig) -> torch.optim.AdamW:
    """AdamW over two groups: matrices (rate falling as 1 / width, decayed) and everything else (neither)."""
    matrices = {name: value for name, value in model.named_parameters() if is_matrix(name, value)}
    others = [value for name, value in model.named_parameters() if name not in matrices]
    matrix_rate = config.learning_rate * RECIPE_WIDTH / model.config.width
    groups = [
        {"params": list(matrices.values()), "peak": matrix_rate, "weight_decay": config.weight_decay},
        {"params": others, "peak": config.embedding_rate, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=0.0, betas=(config.beta_1, config.beta_2), fused=True)


def is_matrix(name: str, parameter: nn.Parameter) -> bool:
    """Whether a tensor is a matrix of attention or MLP; embeddings, biases and gains are not."""
    return parameter.ndim == 2 and name not in ("embed.weight", "positions.weight", "unembed.weight")


def set_rate(optimizer: torch.optim.AdamW, share: float) -> float:
    """Set every group to this share of its peak. Returns the matrices' rate."""
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * share
    return float(optimizer.param_groups[0]["lr"])


def rate_share(step: int, steps: int, config: TrainConfig) -> float:
    """Share of the peak rate in a step: a straight rise, then a cosine down to `final_rate`."""
    warmup = max(1, round(config.warmup_share * steps))
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return config.final_rate + (1 - config.final_rate) * (1 + math.cos(math.pi * done)) / 2
