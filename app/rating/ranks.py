"""Shading by rank: how strong an activation is among those that are shown, however large it is. Pure.

Levels of the neuron's own maximum hide weak firings more where activations are heavy-tailed. By rank, the weakest
firing of an item is the palest and each next one a step darker, in every model alike.
"""

from collections.abc import Sequence

import numpy as np

from app.rating.snippets import Shown


def ranked(snippets: Sequence[Shown]) -> list[Shown]:
    """The same snippets with each positive activation replaced by the share of positive ones that are not above it.

    What is not positive stays unshaded, as it is by level.
    """
    values = np.concatenate([np.asarray(shown.activations, np.float64) for shown in snippets])
    positive = np.sort(values[np.isfinite(values) & (values > 0)])
    return [shown._replace(activations=_shares(shown, positive)) for shown in snippets]


def _shares(shown: Shown, positive: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float]:
    values = np.asarray(shown.activations, np.float64)
    fires = np.isfinite(values) & (values > 0)
    not_above = np.searchsorted(positive, np.where(fires, values, 0.0), side="right")
    shares: list[float] = np.where(fires, not_above / max(len(positive), 1), 0.0).tolist()
    return shares
