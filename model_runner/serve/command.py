"""What `glance-runner serve` does."""

import argparse
import sys

from model_runner.bounds import refuse_outside
from model_runner.errors import RunnerError
from model_runner.serve.serve import HOST, create_server, create_service
from model_runner.threads import use_threads


def run(options: argparse.Namespace) -> None:
    """Serve until stopped.

    Raises RunnerError for numbers that make no sense, and when a model cannot be loaded or the port cannot be had.
    """
    refuse_outside("--port", options.port, 0, 65_535)
    refuse_outside("--waiting", options.waiting, 1, 10_000)
    use_threads(options.threads)
    service = create_service(options.checkpoints, options.tokenizer, options.waiting)
    server = create_server(service, options.port)
    sys.stdout.write(f"Serving on http://{HOST}:{options.port} as soon as /ready says so. Stop with Ctrl+C.\n")
    sys.stdout.flush()
    try:
        server.run()
    except SystemExit as error:
        raise RunnerError(f"Port {options.port} of {HOST} could not be had. Choose another --port.") from error
    if service.failure:
        raise service.failure
