"""What `glance machine-rate` does: a language model behind an endpoint rates a study as a person would."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from app.commands.terminal import database, find_study, say
from app.errors import Invalid
from app.settings import get_settings
from app.store.db import transaction

if TYPE_CHECKING:
    from app.machines.queries import Summary

KEY_NAME = "GLANCE_MACHINE_KEY"
TRIES, TIMEOUT_SECONDS = 5, 120.0


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.epilog = f"The key, where the endpoint wants one, is read from the environment variable {KEY_NAME}."
    parser.add_argument("--url", required=True, help="the endpoint's base address, such as http://127.0.0.1:8000/v1")
    parser.add_argument("--model", required=True, help="the model's name, as the endpoint knows it")
    parser.add_argument("--name", help="what the report calls the rater (the model's name)")
    parser.add_argument("--price-in", type=float, metavar="X", help="of a million tokens read")
    parser.add_argument("--price-out", type=float, metavar="X", help="of a million tokens written")
    parser.add_argument("--budget", type=float, metavar="X", help="spend no more than this, earlier runs included")
    parser.add_argument("--calls", type=int, metavar="N", help="make no more calls than this, earlier runs included")
    parser.add_argument("--tries", type=int, default=TRIES, metavar="N", help=f"for each item ({TRIES})")
    parser.add_argument(
        "--timeout", type=float, default=TIMEOUT_SECONDS, metavar="S", help=f"({TIMEOUT_SECONDS:.0f} s)"
    )


def machine_rate(options: argparse.Namespace) -> int:
    """Rate what is left. Exits with 1 where items are left without a verdict; the same command goes on later."""
    from app.machines import actions, queries
    from app.machines.asking import instructions
    from app.machines.budget import Budget
    from app.machines.endpoint import endpoint
    from app.machines.rating import Work, rate_everything

    if options.tries < 1:
        raise Invalid(f"--tries {options.tries} asks nothing. Give 1 or more.")
    where = endpoint(options.url, os.environ.get(KEY_NAME, ""), options.timeout)
    budget = Budget(
        price_in=options.price_in, price_out=options.price_out, most_cost=options.budget, most_calls=options.calls
    )
    with database(get_settings()) as engine:
        transactions = partial(transaction, engine)
        with transactions() as session:
            study = find_study(session, options.study)
            told = instructions(str(study.design.get("instructions", "")))
            machine = actions.enter(
                session, study, name=options.name or options.model, model=options.model, endpoint=where.named, told=told
            )
            todo = len(queries.left(session, machine))
        work = Work(machine=machine, endpoint=where, told=told, budget=budget, tries=options.tries)
        with _watched(machine.name, todo) as done:
            why = rate_everything(transactions, work, done)
        with transactions() as session:
            found = queries.summary(session, machine)
    if why:
        sys.stderr.write(f"{why} The same command goes on from here.\n")
    say(_said(found))
    return 0 if found.verdicts == found.items else 1


def _said(found: "Summary") -> str:
    cost = "not known" if found.cost is None else f"{found.cost:.4f}"
    return (
        f"Calls: {found.calls} ({found.said}). Tokens: {found.prompt_tokens} read, {found.completion_tokens} written. "
        f"Cost: {cost}.\n{found.verdicts} of {found.items} items have a verdict."
    )


@contextmanager
def _watched(name: str, total: int) -> Iterator[Callable[[bool], None]]:
    """A bar with an estimate on a terminal; nothing where nobody watches."""
    from rich.console import Console
    from rich.progress import Progress

    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda _: bar.advance(task)
