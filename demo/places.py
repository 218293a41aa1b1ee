"""Where the demonstration keeps what it makes."""

from pathlib import Path

VAR = Path("var")
CORPUS = VAR / "corpus"
CHECKPOINTS = VAR / "checkpoints"
RUNS = VAR / "runs"
TIMES = VAR / "demo-times.json"
"""How long each step took, so that a second run can still say it."""

ARMS = {"two": ("gelu", "solu_ln"), "all": ("gelu", "solu_ln", "gelu_ln", "solu")}
