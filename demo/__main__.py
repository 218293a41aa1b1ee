"""Everything from nothing to rating on this machine: corpus, models, runs, a study, and the pages."""

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence

from demo.check import check
from demo.models import make_other_runs, make_runs
from demo.places import ARMS, VAR
from demo.server import is_free, serving
from demo.study import Made, environment, kept_study

NEURONS = 60
RATERS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return _make(options)
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped. The same command goes on from the last state that was saved.\n")
        return 130


def _make(options: argparse.Namespace) -> int:
    started = time.monotonic()
    if not options.check and not is_free(options.port):
        sys.stderr.write(f"Port {options.port} is in use. Choose another: make demo PORT={options.port + 1}\n")
        return 2
    runs, others = make_runs(ARMS[options.arms]), make_other_runs(ARMS[options.arms])
    if options.check:
        sys.stdout.write(json.dumps(check(runs, others, neurons=NEURONS, started=started), allow_nan=False) + "\n")
        return 0
    made = kept_study(VAR, runs, others, raters=RATERS, neurons=NEURONS)
    with serving(options.port, environment(VAR)) as base:
        _say(base, made)
        _wait_for_interrupt()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--arms", choices=sorted(ARMS), default="two", help="two models, or all four")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--check", action="store_true", help="let simulated raters finish a study instead of serving")
    return parser


def _say(base: str, made: Made) -> None:
    lines = [
        "",
        f"Rate:        {base.rstrip('/')}{made.links[0]}",
        *(f"             {base.rstrip('/')}{link}" for link in made.links[1:]),
        f"Administer:  {base}studies/{made.study}   (name {made.administrator}, password {made.password})",
        "",
        "Ctrl-C stops the server. Everything is kept in var/; make demo serves it again.",
        "",
    ]
    sys.stdout.write("\n".join(lines))
    sys.stdout.flush()


def _wait_for_interrupt() -> None:
    # Asked to stop in any way, the server stops too.
    for way in (signal.SIGINT, signal.SIGTERM):
        signal.signal(way, signal.default_int_handler)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        sys.stdout.write("\nStopped.\n")


if __name__ == "__main__":
    sys.exit(main())
