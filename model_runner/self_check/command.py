"""What `glance-runner self-check` does."""

import argparse
import sys
import time

from model_runner.ranks import usable
from model_runner.self_check.cache import machine
from model_runner.self_check.self_check import TOLERANCE, check, checked_names


def run(options: argparse.Namespace) -> None:
    """Check now, whatever was remembered, and say how far off the worst number is."""
    started = time.perf_counter()
    device = str(usable(options.device))
    worst, said = check(device), machine(device)
    sys.stdout.write(
        f"{', '.join(checked_names())}: right within {TOLERANCE:g}. Furthest off is {worst.what}, by "
        f"{abs(worst.here - worst.right):.1e}.\ntorch {said['torch']} on {said['device']}, {said['processor']} "
        f"({said['instructions']}); {time.perf_counter() - started:.2f} s.\n"
    )
