"""Rules as text and as records. Pure: no corpus, no run folder.

    rule   = clause {" and " clause}            all clauses hold at one token
    clause = test | "previous " test | place
    test   = "token " string {" | " string}     the token is one of these, byte for byte
           | "pattern " string                  the regular expression matches the whole token, read as UTF-8
           | "script " NAME                     its letters are of this script, such as CYRILLIC
    place  = "document " N | "context " N       among the first N tokens of the document, of the model's window
           | "line"                             the first token of a line

A string is in double quotes; a byte that is not printable UTF-8 is written as its number, two digits after a
backslash and x. What is formatted is read back as the same rule.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

LONGEST_RULE = 2000
MOST_STRINGS = 64


class RuleError(ValueError):
    """A text that is no rule, said in a sentence."""


@dataclass(frozen=True)
class Tokens:
    """The token is one of a few, byte for byte."""

    texts: tuple[bytes, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.texts) <= MOST_STRINGS or len(set(self.texts)) < len(self.texts):
            raise RuleError(f"A rule names 1 to {MOST_STRINGS} different tokens; {len(self.texts)} were given.")


@dataclass(frozen=True)
class Pattern:
    """A regular expression matches the whole token. Bytes that are no character are surrogates, as in PEP 383."""

    regex: str

    def __post_init__(self) -> None:
        try:
            _ = self.compiled
        except (re.error, OverflowError, RecursionError) as error:
            raise RuleError(f"{self.regex!r} is no regular expression: {error}.") from None

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.regex)


@dataclass(frozen=True)
class Script:
    """The token has letters, and all of them are of one script."""

    name: str

    def __post_init__(self) -> None:
        if not re.fullmatch("[A-Z]+", self.name):
            raise RuleError(f"{self.name!r} is no name of a script; one is in capitals, such as LATIN or CYRILLIC.")


Test: TypeAlias = Tokens | Pattern | Script


@dataclass(frozen=True)
class Previous:
    """The test holds for the token before, which must be there."""

    test: Test


@dataclass(frozen=True)
class Place:
    """Among the first tokens of the document or of the model's window, BOS not counted, or the first of a line."""

    of: Literal["document", "context", "line"]
    first: int = 1

    def __post_init__(self) -> None:
        if self.first < 1 or (self.of == "line" and self.first != 1):
            raise RuleError(
                f"A place counts from 1, and only the first token of a line is one; {self.first} was given."
            )


Clause: TypeAlias = Test | Previous | Place


@dataclass(frozen=True)
class Rule:
    """Clauses that all hold at one token."""

    clauses: tuple[Clause, ...]

    def __post_init__(self) -> None:
        if not self.clauses or len(set(self.clauses)) < len(self.clauses):
            raise RuleError("A rule needs at least one clause, and none of them twice.")

    def __str__(self) -> str:
        return " and ".join(map(_clause_text, self.clauses))


Kind: TypeAlias = Literal["token", "tokens", "pattern", "script", "previous", "place", "joined"]


def kind_of(rule: Rule) -> Kind:
    """What it is about: a token, one of several, a pattern, a script, the token before, a place, or two of these."""
    match rule.clauses:
        case (Tokens((_,)),):
            return "token"
        case (Tokens(),):
            return "tokens"
        case (Pattern(),):
            return "pattern"
        case (Script(),):
            return "script"
        case (Previous(),):
            return "previous"
        case (Place(),):
            return "place"
    return "joined"


# ---- writing ------------------------------------------------------------------------------------


def _clause_text(clause: Clause) -> str:
    match clause:
        case Tokens(texts):
            return "token " + " | ".join(map(quote, texts))
        case Pattern(regex):
            return "pattern " + quote(regex.encode("utf-8", "surrogateescape"))
        case Script(name):
            return f"script {name}"
        case Previous(test):
            return f"previous {_clause_text(test)}"
        case Place("line"):
            return "line"
        case Place(of, first):
            return f"{of} {first}"


def quote(text: bytes) -> str:
    """Bytes as a string of the grammar: printable characters as they are, all else as the numbers of its bytes."""
    return '"' + "".join(map(_spelt, text.decode("utf-8", "surrogateescape"))) + '"'


def _spelt(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


# ---- reading ------------------------------------------------------------------------------------

_PIECE = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\["\\]|\\x[0-9a-fA-F]{2})*")|(?P<word>[A-Za-z]+)|(?P<number>[0-9]{1,9})|(?P<bar>\|))"""
)
_ESCAPE = re.compile(rb'\\(?:x([0-9a-fA-F]{2})|(["\\]))')
_TESTS = ("token", "pattern", "script")


def parse(text: str) -> Rule:
    """The rule that a text says. Raises RuleError, saying where, for a text that says none."""
    if len(text) > LONGEST_RULE:
        raise RuleError(f"A rule has at most {LONGEST_RULE} characters; this one has {len(text)}.")
    reader = _Reader(text)
    clauses = [reader.clause()]
    while not reader.at_end:
        reader.expect("and")
        clauses.append(reader.clause())
    return Rule(tuple(clauses))


class _Reader:
    """Where the reading of a text stands."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text.rstrip(), 0

    @property
    def at_end(self) -> bool:
        return self._at == len(self._text)

    def clause(self) -> Clause:
        word = self._take("word", 'a clause, such as token " the"')
        if word in _TESTS:
            return self._test(word)
        if word == "previous":
            return Previous(self._test(self._take("word", f"one of {', '.join(_TESTS)}")))
        if word == "line":
            return Place("line")
        if word == "document":
            return Place("document", int(self._take("number", "how many tokens")))
        if word == "context":
            return Place("context", int(self._take("number", "how many tokens")))
        raise RuleError(
            f"{word!r} begins no clause. Clauses begin with {', '.join(_TESTS)}, previous, document, context, line."
        )

    def expect(self, word: str) -> None:
        if self._take("word", word) != word:
            raise RuleError(f"Clauses are joined by {word!r}; the text goes on otherwise at character {self._at}.")

    def _test(self, word: str) -> Test:
        if word == "token":
            return Tokens(tuple(self._strings()))
        if word == "pattern":
            return Pattern(
                _unquoted(self._take("string", "a regular expression in quotes")).decode("utf-8", "surrogateescape")
            )
        if word == "script":
            return Script(self._take("word", "the name of a script"))
        raise RuleError(f"{word!r} is no test; tests are {', '.join(_TESTS)}.")

    def _strings(self) -> list[bytes]:
        strings = [_unquoted(self._take("string", "a token in quotes"))]
        while self._peek("bar"):
            self._take("bar", "|")
            strings.append(_unquoted(self._take("string", "a token in quotes")))
        return strings

    def _peek(self, kind: str) -> bool:
        found = _PIECE.match(self._text, self._at)
        return found is not None and found.lastgroup == kind

    def _take(self, kind: str, what: str) -> str:
        found = _PIECE.match(self._text, self._at)
        if found is None or found.lastgroup != kind:
            raise RuleError(f"At character {self._at + 1} of the rule, {what} is expected.")
        self._at = found.end()
        return found[kind]


def _unquoted(string: str) -> bytes:
    inner = string[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()) if found[1] else found[2], inner)
