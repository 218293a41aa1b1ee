"""Letting raters in."""

import sys
from datetime import timedelta

from app import clock
from app.commands.terminal import ACTOR, Options, find_study, say, writing
from app.errors import Invalid

LONGEST_DAYS = 3650


def invite(options: Options) -> None:
    from app.raters import actions

    if options.days is not None and not 1 <= options.days <= LONGEST_DAYS:
        raise Invalid(
            f"A link works for 1 to {LONGEST_DAYS} days, or without --days for ever; {options.days} was given."
        )
    expires_at = clock.now() + timedelta(days=options.days) if options.days else None
    with writing() as (session, settings):
        study = find_study(session, options.study)
        token = actions.invite(
            session, study, options.name, actor=ACTOR, reusable=options.reusable, expires_at=expires_at,
            most_raters=options.most,
        )  # fmt: skip
    if sys.stdout.isatty():  # a program that reads the link needs no advice
        sys.stderr.write("Put the address that raters know your server by before it, such as http://127.0.0.1:8000\n")
    say(f"{settings.root_path}/join/{token}")
