"""Templates in a language: their constant words are translated when they are compiled, not each time they are shown."""

from collections.abc import Iterator
from functools import cache

from jinja2 import Environment
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream

from app.words.language import Language, language

CALL = ("name", "lparen", "string", "rparen")
"""_("constant words")"""


@cache
def in_language(environment: Environment, code: str) -> Environment:
    """The same templates, which speak this language without being asked each time."""
    spoken = environment.overlay(extensions=[ConstantWords])
    spoken.extend(speaking=language(code))
    return spoken


class ConstantWords(Extension):
    """Puts the translation in the place of the call. What a template says of values is still asked when it is shown."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        speaking: Language = self.environment.speaking  # type: ignore[attr-defined]
        held: list[Token] = []
        for token in stream:
            held.append(token)
            if not _begins_call(held):
                yield from held
                held.clear()
            elif len(held) == len(CALL):
                yield Token(held[0].lineno, "string", speaking.gettext(held[2].value))
                held.clear()
        yield from held


def _begins_call(tokens: list[Token]) -> bool:
    return tokens[0].value == "_" and all(token.type == kind for token, kind in zip(tokens, CALL, strict=False))
