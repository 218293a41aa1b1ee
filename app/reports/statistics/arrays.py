"""Names of array types. Suffixes in this package: N neurons, R raters, A arms, B resamples, Q categories,
C columns, S strata, T simulated studies."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
