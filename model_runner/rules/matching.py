"""Whether a rule holds at a token. Pure."""

from typing import NamedTuple

from model_runner.rules.grammar import Clause, Pattern, Place, Previous, Rule, Script, Test, Tokens
from model_runner.rules.scripts import scripts_of


class Site(NamedTuple):
    """A token where it stands."""

    token: bytes
    previous: bytes | None
    """The token before; None at the beginning of the model's window, where there is only BOS."""
    in_document: int
    """How many tokens of the document come before."""
    in_context: int
    """How many tokens of the window come before, BOS not counted."""


def holds(rule: Rule, site: Site) -> bool:
    """Whether all clauses of the rule hold at the site."""
    return all(_clause_holds(clause, site) for clause in rule.clauses)


def token_passes(test: Test, token: bytes) -> bool:
    """Whether a test holds for a token by itself."""
    match test:
        case Tokens(texts):
            return token in texts
        case Pattern():
            return test.compiled.fullmatch(token.decode("utf-8", "surrogateescape")) is not None
        case Script(name):
            return scripts_of(token) == {name}


def begins_line(previous: bytes | None, in_document: int) -> bool:
    """A line begins with the document, and after a token that ends a line and may go on with its indentation."""
    return in_document == 0 or (
        previous is not None and b"\n" in previous and not previous[previous.rindex(b"\n") :].strip()
    )


def _clause_holds(clause: Clause, site: Site) -> bool:
    match clause:
        case Previous(test):
            return site.previous is not None and token_passes(test, site.previous)
        case Place("document", first):
            return site.in_document < first
        case Place("context", first):
            return site.in_context < first
        case Place():
            return begins_line(site.previous, site.in_document)
        case _:
            return token_passes(clause, site.token)
