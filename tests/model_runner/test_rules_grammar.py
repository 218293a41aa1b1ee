import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_runner.rules.grammar import Pattern, Place, Previous, Rule, RuleError, Script, Tokens, kind_of, parse
from model_runner.rules.hypothesis import sentence
from model_runner.rules.matching import Site, begins_line, holds
from model_runner.rules.scripts import scripts_of

TOKENS = st.lists(st.binary(max_size=8), min_size=1, max_size=4, unique=True).map(lambda texts: Tokens(tuple(texts)))
REGEXES = st.one_of(
    st.sampled_from([r" ?[0-9]+", r"\s*\n\s*", r'["\\]+', r"(?i:the|a)"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(
        lambda text: "".join(f"[{c}]" if c not in "[]^\\-&~|" else "\\" + c for c in text)
    ),
)
TESTS = st.one_of(TOKENS, REGEXES.map(Pattern), st.sampled_from(["LATIN", "CYRILLIC", "CJK"]).map(Script))
PLACES = st.one_of(
    st.just(Place("line")), st.builds(Place, st.sampled_from(["document", "context"]), st.integers(1, 999))
)
CLAUSES = st.one_of(TESTS, TESTS.map(Previous), PLACES)
RULES = st.lists(CLAUSES, min_size=1, max_size=3, unique=True).map(lambda clauses: Rule(tuple(clauses)))
SITES = st.builds(
    Site, st.binary(max_size=6), st.none() | st.binary(max_size=6), st.integers(0, 40), st.integers(0, 40)
)


@given(RULES)
def test_what_is_written_is_read_back(rule: Rule) -> None:
    assert parse(str(rule)) == rule
    assert str(rule).isprintable()
    assert sentence(rule).startswith("Fires ")


@given(RULES, SITES)
def test_a_rule_holds_where_all_its_clauses_do(rule: Rule, site: Site) -> None:
    assert holds(rule, site) == all(holds(Rule((clause,)), site) for clause in rule.clauses)
    assert holds(parse(str(rule)), site) == holds(rule, site)


@given(st.text(max_size=40))
def test_any_text_is_a_rule_or_refused_in_a_sentence(text: str) -> None:
    try:
        rule, why = parse(text), ""
    except RuleError as error:
        rule, why = None, str(error)
    assert why.endswith(".") if rule is None else parse(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "site", "expected"),
    [
        ('token " the"', Site(b" the", b"of", 5, 5), True),
        ('token " the"', Site(b"the", b"of", 5, 5), False),
        ('token "a" | "b"', Site(b"b", None, 0, 0), True),
        (r'token "\xd0"', Site(b"\xd0", None, 0, 0), True),
        ('pattern " ?[0-9]+"', Site(b" 1999", b"in", 5, 5), True),
        ('pattern " ?[0-9]+"', Site(b" 1999a", b"in", 5, 5), False),
        ('previous token " of"', Site(b" x", b" of", 5, 5), True),
        ('previous token ""', Site(b" x", None, 5, 0), False),
        ("script CYRILLIC", Site("река".encode(), None, 5, 0), True),
        ("script CYRILLIC", Site(b"\xd0", b" ", 5, 5), True),
        ("script CYRILLIC", Site("река x".encode(), b" ", 5, 5), False),
        ("script LATIN", Site(b" 12", b" ", 5, 5), False),
        ("document 1", Site(b"x", None, 0, 0), True),
        ("document 1", Site(b"x", None, 31, 0), False),
        ("context 8", Site(b"x", b"y", 40, 7), True),
        ("line", Site(b"x", b"\n    ", 40, 7), True),
        ("line", Site(b"x", b"\nfoo", 40, 7), False),
        ('token "(" and previous pattern "[a-z]+"', Site(b"(", b"print", 4, 4), True),
        ('token "(" and previous pattern "[a-z]+"', Site(b"(", b" ", 4, 4), False),
    ],
)
def test_examples(text: str, site: Site, expected: bool) -> None:
    assert holds(parse(text), site) is expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a clause"),
        ("token", "a token in quotes"),
        ("tokens 'x'", "begins no clause"),
        ('token "a" or token "b"', "joined by 'and'"),
        ('pattern "["', "no regular expression"),
        ('pattern "a{99999999999}"', "no regular expression"),
        (f'pattern "{"(" * 900}{")" * 900}"', "no regular expression"),
        ("script cyrillic", "no name of a script"),
        ("document", "how many tokens"),
        ("document 0", "counts from 1"),
        ("previous line", "no test"),
        ('token "a" | "a"', "different tokens"),
        ("line and line", "none of them twice"),
        ('token "a', "a token in quotes"),
        ("x" * 2001, "at most 2000 characters"),
    ],
)
def test_what_is_no_rule_is_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(RuleError, match=says):
        parse(text)


def test_the_beginning_of_a_character_tells_its_script_where_only_one_is_possible() -> None:
    assert scripts_of(b"\xd0") == {"CYRILLIC"}
    assert scripts_of(b"\xe5\xa5") == {"CJK"}
    assert scripts_of(b"\xe3") == set()  # Hiragana, Katakana and more
    assert scripts_of(b"\xb5") == set()  # the middle of a character
    assert scripts_of("日本の".encode()) == {"CJK", "HIRAGANA"}


@pytest.mark.parametrize(
    ("previous", "in_document", "expected"), [(None, 0, True), (None, 7, False), (b"x\n", 7, True)]
)
def test_a_line_begins(previous: bytes | None, in_document: int, expected: bool) -> None:
    assert begins_line(previous, in_document) is expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('token "a"', "token"),
        ('token "a" | "b"', "tokens"),
        ('pattern "a+"', "pattern"),
        ("script THAI", "script"),
        ('previous token "a"', "previous"),
        ("line", "place"),
        ('token "a" and line', "joined"),
    ],
)
def test_what_a_rule_is_about(text: str, kind: str) -> None:
    assert kind_of(parse(text)) == kind
