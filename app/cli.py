"""The `glance` command: the application, its database, and studies from a terminal.

Imports of heavy libraries stay inside the commands that need them, so that --help is quick.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from pydantic import ValidationError
from sqlalchemy.exc import DatabaseError, OperationalError

from app.commands import acts, administrators, database, designs, files, machines, raters, server, studies
from app.commands.designs import NUMBERS, POWER
from app.errors import AppError
from app.reports.planning import Question
from app.studies.asked import TEMPLATES
from app.studies.design import Design, SnippetChoice
from app.utf8 import insist_on_utf8

Parser = argparse.ArgumentParser
HIGHEST_PORT = 65535
CODE_WITH_DASH = re.compile(r"-[A-Za-z0-9_][A-Za-z0-9_-]{14}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit status: 2 after an expected failure, told on stderr, and 130 after Ctrl+C."""
    if arguments is None:
        insist_on_utf8()
    # An item's code may begin with a dash. What begins with a blank is no option, and the act takes the blank off.
    given = sys.argv[1:] if arguments is None else arguments
    options = parser().parse_args([f" {one}" if CODE_WITH_DASH.fullmatch(one) else one for one in given])
    try:
        return int(options.do(options) or 0)
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped.\n")
        return 130
    except AppError as error:
        sys.stderr.write(f"{error.message}\n")
    except ValidationError as error:  # of the settings, the only ones read here
        first = error.errors()[0]
        why = first["msg"].removeprefix("Value error, ")
        sys.stderr.write(f"GLANCE_{str(first['loc'][0]).upper()} was not understood: {why}.\n")
    except DatabaseError as error:
        if type(error) not in (OperationalError, DatabaseError):
            raise  # not the database itself, but what we asked of it
        sys.stderr.write(f"The database cannot be used: {str(error.orig).strip()}\n")
    return 2


def parser() -> Parser:
    parser = Parser(prog="glance", description="Blind studies of neurons: is one interpretable at a glance?")
    add = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _command(add, "migrate", "bring the database up to date", database.migrate)
    for name, what, do in (
        ("backup", "copy the whole database into one file, while raters go on", database.backup),
        ("restore", "put a backup back into an empty database", database.restore),
    ):
        _command(add, name, what, do).add_argument("file", type=Path, metavar="FILE")
    _serve(add)
    _administrator(add)
    _study(add)
    _power(add)
    _invite(add)
    for name, what, do in (
        ("close", "take no more verdicts; the study stays blind", studies.close),
        ("reopen", "take verdicts again, if it was not unblinded", studies.reopen),
    ):
        _named(_command(add, name, what, do))
    _unblind(add)
    _open_item(add)
    machine = _command(add, "machine-rate", "let a model behind an endpoint rate", machines.machine_rate)
    machines.add_options(_named(machine))
    _files(add)
    return parser


def _command(
    add: "argparse._SubParsersAction[Parser]", name: str, what: str, do: Callable[[argparse.Namespace], int | None]
) -> Parser:
    parser = add.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    parser.set_defaults(do=do)
    return parser


def _named(parser: Parser) -> Parser:
    parser.add_argument("study", metavar="STUDY", help="the study's code, or its name")
    return parser


def _serve(add: "argparse._SubParsersAction[Parser]") -> None:
    serve = _command(add, "serve", "serve the pages", server.serve)
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=_port, default=8000)
    serve.add_argument("--workers", type=int, default=1, help="processes (1)")


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to {HIGHEST_PORT}, and {text!r} was given")
    return int(text)


def _administrator(add: "argparse._SubParsersAction[Parser]") -> None:
    group = add.add_parser("administrator", help="who looks after studies").add_subparsers(required=True)
    new = _person(_command(group, "add", "let somebody sign in", administrators.add))
    new.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
    new.add_argument("--may-not-manage", action="store_true", help="may look, but not change studies")
    new.add_argument("--may-not-rate", action="store_true")
    new.add_argument("--may-not-unblind", action="store_true")
    _command(group, "list", "name them, with their roles", administrators.list_all)
    roles = _person(_command(group, "roles", "give somebody these roles and no others", administrators.set_roles))
    roles.add_argument("role", nargs="+", choices=("manage", "rate", "unblind", "none"))
    for name, what, do in (
        ("deactivate", "shut somebody out; what they did stays", administrators.deactivate),
        ("reactivate", "let somebody in again, with the roles they had", administrators.reactivate),
        ("password", "print a new first password, which ends their sessions", administrators.give_password),
    ):
        _person(_command(group, name, what, do))


def _person(parser: Parser) -> Parser:
    parser.add_argument("name", metavar="NAME")
    return parser


def _study(add: "argparse._SubParsersAction[Parser]") -> None:
    group = add.add_parser("study", help="create studies, and list them").add_subparsers(required=True)
    _command(group, "list", "name the studies", studies.list_studies)
    create = _command(group, "create", "draw and seal a study", studies.create_study)
    create.add_argument(
        "--file", type=Path, metavar="STUDY.TOML", help="what is asked for; what is said beside it wins"
    )
    create.add_argument("--name")
    create.add_argument("--run", type=Path, action="append", help="a run folder; give two or more")
    usual = Design()
    for flag, field, what in NUMBERS:
        about = f"{what} ({getattr(usual, field)})"
        create.add_argument(f"--{flag}", dest=field, type=int, metavar="N", help=about)
    create.add_argument("--snippet-choice", choices=get_args(SnippetChoice), help="which snippets (top)")
    create.add_argument("--simulated", action="store_true", help="its raters are programs")
    create.add_argument("--pilot", action="store_true", help="a trial that is never counted")
    amend = _named(_command(group, "amend", "write an amended plan down beside the sealed one", acts.amend))
    amend.add_argument(
        "--set", action="append", required=True, metavar="FIELD=VALUE", help="what the plan says instead"
    )
    amend.add_argument("--reason", required=True)
    template = _command(group, "template", "write a study.toml to begin with", designs.template)
    template.add_argument("template", nargs="?", choices=sorted(TEMPLATES), default="first", help="which one (first)")
    _named(_command(group, "file", "write the study.toml of a study", designs.study_file))


def _power(add: "argparse._SubParsersAction[Parser]") -> None:
    power = _command(add, "power", "neurons and raters that tell a difference apart", designs.power)
    usual = Question()
    for name, kind, what in POWER:
        default = getattr(usual, name)
        flag = name.replace("_", "-")
        power.add_argument(f"--{flag}", dest=name, type=kind, default=default, metavar="N", help=f"{what} ({default})")
    power.add_argument("--figure", type=Path, metavar="FILE.SVG", help="write the curve as a picture")


def _invite(add: "argparse._SubParsersAction[Parser]") -> None:
    invite = _named(_command(add, "invite", "make a rater's link; it is shown once", raters.invite))
    invite.add_argument("--name", required=True, help="what you call the rater")
    invite.add_argument("--reusable", action="store_true", help="whoever has the link becomes a rater")
    invite.add_argument("--most", type=int, metavar="N", help="with --reusable: so many raters at once")
    invite.add_argument("--days", type=int, help="how long the link can be opened")


def _unblind(add: "argparse._SubParsersAction[Parser]") -> None:
    unblind = _named(_command(add, "unblind", "open the seal of a closed study, for good", studies.unblind))
    unblind.add_argument("--administrator", required=True, metavar="NAME", help="who does it")
    unblind.add_argument("--reason", required=True)
    unblind.add_argument("--password-stdin", action="store_true", help="read the password from standard input")


def _open_item(add: "argparse._SubParsersAction[Parser]") -> None:
    opening = _command(add, "open-item", "open one item in an emergency; the study stays blind", acts.open_item)
    _named(opening).add_argument("item", metavar="ITEM", help="the item's code, as the downloads give it")
    opening.add_argument("--administrator", required=True, metavar="NAME", help="who does it")
    opening.add_argument("--reason", required=True)
    opening.add_argument("--password-stdin", action="store_true", help="read the password from standard input")


def _files(add: "argparse._SubParsersAction[Parser]") -> None:
    report = _named(_command(add, "report", "write the report of an unblinded study", files.report))
    report.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    report.add_argument("--language", choices=("en", "zh-Hans"), default="en", help="of the report's words (en)")
    report.add_argument("--mixed", action="store_true", help="fit a mixed model too: minutes, with the extra [mixed]")
    export = _named(_command(add, "export", "write every table that may leave the study now", files.export))
    export.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    export.add_argument("--neuronpedia", action="store_true", help="snippets as jsonl too, once it is unblinded")
    export.add_argument("--strict", action="store_true", help="exit with 1 where a table is empty")
    back = _named(_command(add, "import-ratings", "bring an export's ratings back to its study", files.import_ratings))
    back.add_argument("export", type=Path, metavar="EXPORT", help="the export's folder or its .zip")
    verify = _command(add, "verify", "check an exported study's seal and log, without a database", files.verify)
    verify.add_argument(
        "export",
        type=Path,
        metavar="EXPORT",
        help="its folder, its .zip or seal.json; or the file of one item opened early",
    )


if __name__ == "__main__":
    sys.exit(main())
