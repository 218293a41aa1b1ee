"""What `glance-runner eval-harness` does. The last line on standard output is JSON."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model_runner.bounds import refuse_outside
from model_runner.errors import RunnerError
from model_runner.files import make_folder, write_json

TASKS = Path(__file__).parent / "tasks"
SHIPPED = ("glance_last_word", "glance_passages", "glance_arithmetic", "glance_arithmetic_said")
PAPER = (
    "lambada_openai",
    "arc_easy",
    "arc_challenge",
    "openbookqa",
    "triviaqa",
    "arithmetic",
    "mmlu",
    "hellaswag",
)
"""The harness's names for the tasks of the paper; ARC is two."""
GROUPS = {"shipped": SHIPPED, "paper": PAPER}
BOOTSTRAPS = 1000
"""Draws for the standard error of a metric that has no formula, such as perplexity."""
MOST_QUESTIONS = 10**9
MOST_FEWSHOT = 64
"""As many as the paper's tasks are given at most; each shipped task has more questions."""
NEEDED = "This needs lm-evaluation-harness. Run, in Glance's folder: pip install -c constraints.txt -e '.[eval]'"


def run(options: argparse.Namespace) -> None:
    """Run tasks on a checkpoint, print a line for each metric, and keep the whole where that is asked."""
    refuse_outside("--limit", options.limit, 1, MOST_QUESTIONS)
    refuse_outside("--fewshot", options.fewshot, 0, MOST_FEWSHOT)
    results = evaluate_tasks(options.checkpoint, options.tasks, options.limit, options.fewshot)
    # Said first: where it cannot be kept, it is not lost as well.
    sys.stdout.write("\n".join([*lines(results), json.dumps(results)]) + "\n")
    if options.out:
        make_folder(options.out.parent)
        write_json(options.out, results)


def evaluate_tasks(folder: Path, names: Sequence[str], limit: int | None, fewshot: int | None) -> dict[str, Any]:
    """The harness's results for each task: `{"glance_last_word": {"acc,none": 0.1, "acc_stderr,none": 0.02, …}, …}`.

    `names` are tasks of the harness, shipped ones, or a group's name (`shipped`, `paper`). Raises RunnerError when
    the harness is not installed, for a task that it does not know or whose data cannot be had, and for a checkpoint
    that cannot be read.
    """
    try:
        from lm_eval import simple_evaluate
        from lm_eval.tasks import TaskManager
    except ImportError as error:
        raise RunnerError(f"{NEEDED} ({error})") from error
    from model_runner.eval_harness.language_model import open_language_model

    wanted = [task for name in names for task in GROUPS.get(name, (name,))]
    # The harness's own tasks are some ten thousand files, read only where one of them is wanted.
    manager = TaskManager(include_path=str(TASKS), include_defaults=not set(wanted) <= set(SHIPPED))
    unknown = [task for task in wanted if task not in manager.all_tasks]
    if unknown:
        raise RunnerError(
            f"The harness has no task {unknown[0]!r}; give its name for one, "
            f"one of {', '.join(SHIPPED)}, or `shipped` or `paper` for all of them."
        )
    # The harness would fork processes to draw bootstraps, which a process with PyTorch's threads must not.
    os.environ["DISABLE_MULTIPROC"] = "1"
    model = open_language_model(folder)
    try:
        found = simple_evaluate(
            model,
            tasks=wanted,
            limit=limit,
            num_fewshot=fewshot,
            task_manager=manager,
            bootstrap_iters=BOOTSTRAPS,
            log_samples=False,
        )
    except OSError as error:
        said = " ".join(str(error).split())
        raise RunnerError(
            f"The data of a task could not be had: {said}. Check the network, or leave it out."
        ) from error
    return {task: dict(values) for task, values in found["results"].items()}


def lines(results: dict[str, Any]) -> list[str]:
    """A line for each metric of each task, with its standard error where the harness gives one."""
    said = []
    for task, values in results.items():
        for key, value in values.items():
            metric, _, way = key.partition(",")
            error = values.get(f"{metric}_stderr,{way}")
            if isinstance(value, float) and not metric.endswith("_stderr"):
                beside = f" ± {error:.4f}" if isinstance(error, float) else ""
                said.append(f"{task}: {metric} {value:.4f}{beside}")
    return said
