"""What `glance study amend` and `glance open-item` do."""

import json
from functools import partial

from app.commands.terminal import Options, database, find_study, looking, read_password, say, shell, writing
from app.errors import Invalid
from app.store.db import transaction


def amend(options: Options) -> None:
    """Write another plan down beside the sealed one."""
    from app.studies.plans import amend_plan

    changes = dict(_assignment(text) for text in options.set)
    with writing() as (session, _):
        made = amend_plan(session, find_study(session, options.study).code, shell(), changes, options.reason)
    say(f"Amendment {made.number} is written down, after {made.verdicts} verdicts.")
    say(made.plan_digest)


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise Invalid(f"--set takes FIELD=VALUE, such as alpha=0.01; you gave “{text}”.")
    return name.strip(), value


def open_item(options: Options) -> None:
    """Open one item; the last line on standard output is the file that `glance verify` checks alone."""
    from app.studies import early

    with looking() as (session, settings):
        code = find_study(session, options.study).code
    with database(settings) as engine:
        transactions = partial(transaction, engine)
        item = early.open_early(
            transactions, settings, code, options.administrator,
            password=read_password(options), item=options.item, rater="", reason=options.reason,
        )  # fmt: skip
        with transactions() as session:
            study = find_study(session, code)
            opened = next(one for one in early.opened_early(session, study) if one.code == item)
            said = early.opened_file(session, study, opened)
    say(json.dumps(said, ensure_ascii=False))
