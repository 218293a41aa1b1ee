"""A ratio of two sums over documents, with its standard error."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model_runner.errors import RunnerError


class Ratio(NamedTuple):
    """An estimate and how far it may be off."""

    value: float
    standard_error: float


def ratio(above_N: NDArray[Any], below_N: NDArray[Any]) -> Ratio:
    """sum(y) / sum(x) over N documents, and its standard error, both in units of y a unit of x.

    With R = sum(y) / sum(x), the error is sqrt(N / (N - 1) * sum((y - R x)^2)) / sum(x): the linearised (delta)
    variance of a ratio estimator, Cochran, Sampling Techniques (1977), equation 6.13, without the correction for
    a finite population, as the documents stand for all text of their kind. The document is the unit: tokens of one
    document are not independent. Documents that quote each other are taken as independent nevertheless.
    Raises RunnerError for fewer than two documents.
    """
    if len(above_N) < 2:
        raise RunnerError(
            f"A standard error needs 2 documents or more, and there are {len(above_N)}. Evaluate over more."
        )
    y_N, x_N = np.asarray(above_N, np.float64), np.asarray(below_N, np.float64)
    value = float(y_N.sum() / x_N.sum())
    squares = float(((y_N - value * x_N) ** 2).sum())
    return Ratio(value, float(np.sqrt(len(y_N) / (len(y_N) - 1) * squares) / x_N.sum()))
