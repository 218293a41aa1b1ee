"""Random directions among a layer's neurons: what a rater is shown as a control."""

# Shape suffixes: F neurons of a layer, R directions.
import numpy as np
import torch
from torch import Tensor


def random_directions(layer: int, hidden: int, count: int, seed: int) -> Tensor:
    """`count` unit vectors (hidden, count), uniform on the sphere.

    One seed gives every model with this many neurons the same directions in the same layer.
    """
    rng = np.random.default_rng([seed, layer, hidden])
    # A column is drawn at a time, so that more directions leave the first ones as they were.
    drawn_RF = rng.standard_normal((count, hidden))
    unit_RF = drawn_RF / np.linalg.norm(drawn_RF, axis=1, keepdims=True)
    return torch.from_numpy(unit_RF.T.astype(np.float32))
