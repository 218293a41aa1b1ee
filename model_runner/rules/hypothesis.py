"""A rule as a sentence, as a rater would write it down."""

from model_runner.rules.classes import CLASSES
from model_runner.rules.grammar import Clause, Pattern, Place, Previous, Rule, Script, Test, Tokens, quote
from model_runner.words import counted


def sentence(rule: Rule) -> str:
    """“Fires on the token " the", right after a number.”"""
    here = [_test(clause) for clause in rule.clauses if not isinstance(clause, Previous | Place)]
    around = [_around(clause) for clause in rule.clauses if isinstance(clause, Previous | Place)]
    return f"Fires {', '.join([*(f'on {test}' for test in here), *around])}."


def _around(clause: Clause) -> str:
    match clause:
        case Previous(test):
            return f"right after {_test(test)}"
        case Place("line"):
            return "at the beginning of a line"
        case Place(of, first):
            where = "a document" if of == "document" else "the model's window"
            return (
                f"at the beginning of {where}" if first == 1 else f"in the first {counted(first, 'token')} of {where}"
            )
    raise TypeError(f"{clause} says nothing about what is around a token")


def _test(test: Test) -> str:
    match test:
        case Tokens((only,)):
            return f"the token {quote(only)}"
        case Tokens(texts):
            return f"one of the tokens {', '.join(map(quote, texts))}"
        case Pattern(regex):
            return CLASSES.get(regex, f"a token like /{regex}/")
        case Script(name):
            return f"{name.capitalize()} letters" if name != "CJK" else "Chinese characters"
