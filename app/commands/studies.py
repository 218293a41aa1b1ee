"""Studies: listed, made, closed, reopened, unblinded."""

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands.terminal import (
    ACTOR,
    Options,
    current_settings,
    database,
    find_study,
    looking,
    read_password,
    say,
    shell,
    writing,
)
from app.models import StudyState
from app.store.db import reading, transaction

if TYPE_CHECKING:
    from app.studies.draw import DrawnItem


def list_studies(_options: Options) -> None:
    from app.studies.queries import list_studies

    with looking() as (session, _):
        for listed in list_studies(session):
            study = listed.study
            say(f"{study.code}  {study.state:<9}  {listed.done} of {listed.wanted} verdicts  {study.name}")


def create_study(options: Options) -> None:
    """Everything slow is done before the database is written to, but for a line that says that it was begun."""
    from app.commands.designs import asked_for
    from app.studies import creating, drafts

    settings = current_settings()
    asked = asked_for(options, settings)
    with database(settings) as engine:
        transactions = partial(transaction, engine)
        with transactions() as session:
            creating.check_name(session, asked.name)
            draft = drafts.start(session, ACTOR, asked, []).code
        folders = [Path(run) for run in asked.runs]
        code = drafts.draw_and_seal(
            transactions, settings, draft, folders, simulated=options.simulated, watch=_watch
        )  # fmt: skip
        with transactions() as session:
            say(f"Sealed: {find_study(session, code).seal_root}")
    say(code)


def _watch(items: "Iterable[DrawnItem]", total: int) -> "Iterable[DrawnItem]":
    """A bar on a terminal; it takes seconds, so nothing where nobody watches."""
    from rich.console import Console
    from rich.progress import track

    if not sys.stderr.isatty():
        return items
    return track(items, "Rendering items", total, console=Console(stderr=True), transient=True)


def close(options: Options) -> None:
    from app.studies.actions import close_study

    with writing() as (session, _):
        study = close_study(session, find_study(session, options.study).code, shell())
    say(f"“{study.name}” is closed. It stays blind until it is unblinded.")


def reopen(options: Options) -> None:
    from app.studies.actions import reopen_study

    with writing() as (session, _):
        study = reopen_study(session, find_study(session, options.study).code, shell())
    say(f"“{study.name}” is open again.")


def unblind(options: Options) -> None:
    from app.studies import actions

    settings = current_settings()
    with database(settings) as engine:
        transactions = partial(transaction, engine)
        with transactions() as session:
            study = find_study(session, options.study)
        typed = study.name if options.password_stdin else input(f"Type the name of the study ({study.name}): ")
        password = read_password(options)
        state = actions.unblind(
            transactions, partial(reading, engine), settings, study.code, options.administrator,
            password=password, typed_name=typed, reason=options.reason,
        )  # fmt: skip
    if state is StudyState.UNBLINDED:
        say(f"“{study.name}” is unblinded.")
    else:
        say(f"It takes two: somebody else who may unblind “{study.name}” has to do the same within a day.")
