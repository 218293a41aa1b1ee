import re

import numpy as np
import pytest

from model_runner.corpus.store import Corpus
from model_runner.rules.battery import PLACES, Battery, make_battery
from model_runner.rules.grammar import Clause, Pattern, Previous, Rule, Script, Tokens, parse
from model_runner.rules.matching import Site, holds
from model_runner.rules.search import MOST_COMMON, Search
from model_runner.rules.sites import peaks, sample, vocabulary_of
from model_runner.run.folder import Run
from tests.planted import WINDOW, at_random, fires_where, mixed_corpus, planted_run, sites_of

CYRILLIC = re.compile("[а-яё]")
PLANTS = {
    "token": (fires_where(lambda site: site.token == b" bread"), 'token " bread"'),
    "set": (fires_where(lambda site: site.token in (b" bread", b" stone", b" river")), None),
    "digits": (fires_where(lambda site: site.token.strip().isdigit()), 'pattern " ?[0-9]+"'),
    "after the": (fires_where(lambda site: site.previous == b" the"), 'previous token " the"'),
    "cyrillic": (
        fires_where(lambda site: CYRILLIC.search(site.token.decode("utf-8", "replace")) is not None),
        "script CYRILLIC",
    ),
    "document": (fires_where(lambda site: site.in_document == 0), "document 1"),
    "line": (fires_where(lambda site: (site.previous or b"").endswith(b"\n")), None),
    "token after token": (
        fires_where(lambda site: site.token == b" lamps" and site.previous == b" old"),
        None,
    ),
    "random": (at_random, None),
    "every token": (fires_where(lambda _: True), None),
    "small letters": (fires_where(lambda site: site.token.strip().isalpha() and site.token.islower()), None),
}
NAMES = list(PLANTS)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return mixed_corpus(tmp_path_factory.mktemp("rules") / "corpus")


@pytest.fixture(scope="module")
def run(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return planted_run(tmp_path_factory.mktemp("rules") / "run", corpus, [plant for plant, _ in PLANTS.values()])


@pytest.fixture(scope="module")
def battery(corpus: Corpus) -> Battery:
    sites = sample(corpus, corpus.in_split("collect"), WINDOW, 20_000, seed=0)
    return make_battery(vocabulary_of(corpus), sites)


@pytest.mark.parametrize("name", [name for name, (_, rule) in PLANTS.items() if rule])
def test_a_planted_rule_is_found(run: Run, battery: Battery, name: str) -> None:
    found = Search(battery).simplest(peaks(run.snippets("top", NAMES.index(name))))
    assert str(found.rule) == PLANTS[name][1]
    assert (found.enough, found.covered, found.of) == (True, 20, 20)
    assert 0 < found.base_rate <= MOST_COMMON


def test_a_planted_set_is_found(run: Run, battery: Battery) -> None:
    found = Search(battery, most_common=0.5).simplest(peaks(run.snippets("top", NAMES.index("set"))))
    assert found.rule is not None
    (clause,) = found.rule.clauses
    assert isinstance(clause, Tokens)
    assert set(clause.texts) == {b" bread", b" stone", b" river"}
    assert found.enough


def test_a_set_of_common_words_is_not_rare_and_so_no_rule(run: Run, battery: Battery) -> None:
    found = Search(battery).simplest(peaks(run.snippets("top", NAMES.index("set"))))
    assert not found.enough
    assert found.base_rate <= MOST_COMMON


def test_two_clauses_are_joined_where_neither_alone_is_rare(run: Run, battery: Battery) -> None:
    sites = peaks(run.snippets("top", NAMES.index("token after token")))
    commonest = battery.base_rate(parse('token " lamps"'))
    found = Search(battery, most_common=commonest / 2).simplest(sites)
    assert str(found.rule) == 'token " lamps" and previous token " old"'
    assert found.enough
    assert str(Search(battery).simplest(sites).rule) == 'token " lamps"'  # simpler, and rare enough for the usual bound


def test_a_random_neuron_gets_no_rule(run: Run, battery: Battery) -> None:
    found = Search(battery).simplest(peaks(run.snippets("top", NAMES.index("random"))))
    assert not found.enough
    assert found.covered < 16


@pytest.mark.parametrize("name", ["every token", "small letters"])
def test_a_rule_that_holds_nearly_everywhere_is_refused(run: Run, battery: Battery, name: str) -> None:
    sites = peaks(run.snippets("top", NAMES.index(name)))
    assert not Search(battery).simplest(sites).enough
    without_bound = Search(battery, most_common=1.0).simplest(sites)
    assert without_bound.enough
    assert without_bound.base_rate > MOST_COMMON


def test_a_share_just_below_the_bound_is_not_enough(run: Run, battery: Battery) -> None:
    snippets = run.snippets("top", NAMES.index("token")), run.snippets("top", NAMES.index("random"))
    for kept, expected in ((16, True), (15, False)):
        sites = peaks([*snippets[0][:kept], *snippets[1][: 20 - kept]])
        assert Search(battery).simplest(sites).enough is expected


def test_arrays_say_the_same_as_the_definition(corpus: Corpus, battery: Battery) -> None:
    clauses: list[Clause] = [*battery.tests, *map(Previous, battery.tests), *PLACES, Tokens((b" the", b"\n"))]
    clauses += [Pattern("[ab].*"), Previous(Script("LATIN"))]
    some = np.arange(0, len(battery.sample), 101)
    sample_of = {clause: battery.where(clause, battery.sample)[some].tolist() for clause in clauses}
    for row, at in enumerate(some.tolist()):
        site = _site(battery, at)
        for clause in clauses:
            assert sample_of[clause][row] == holds(Rule((clause,)), site), (clause, site)


def test_the_sample_is_what_a_model_reads(corpus: Corpus, battery: Battery) -> None:
    there = {
        site for document in range(corpus.info.documents) for context in sites_of(corpus, document) for site in context
    }
    assert {_site(battery, at) for at in range(0, len(battery.sample), 37)} <= there
    again = sample(corpus, corpus.in_split("collect"), WINDOW, 20_000, seed=0)
    assert np.array_equal(again.token_M, battery.sample.token_M)
    other = sample(corpus, corpus.in_split("collect"), WINDOW, 20_000, seed=1)
    assert not np.array_equal(other.token_M, battery.sample.token_M)


def test_a_base_rate_from_counts_is_the_one_from_sites(battery: Battery) -> None:
    for clause in (
        *battery.tests,
        *map(Previous, battery.tests),
        Tokens((b" the", b" of")),
        Pattern("[ab].*"),
        *PLACES,
    ):
        assert battery.base_rate(Rule((clause,))) == battery.where(clause, battery.sample).mean()


def test_base_rates_are_those_of_the_corpus(corpus: Corpus, battery: Battery) -> None:
    the = [token == b" the" for token in map(corpus.token_bytes, corpus.tokens.tolist())]
    rate = float(np.mean(the))
    assert battery.base_rate(parse('token " the"')) == pytest.approx(rate, abs=5 * (rate / 20_000) ** 0.5)


def _site(battery: Battery, at: int) -> Site:
    sites = battery.sample
    before = int(sites.previous_M[at])
    return Site(
        battery.vocabulary[int(sites.token_M[at])],
        None if before < 0 else battery.vocabulary[before],
        int(sites.in_document_M[at]),
        int(sites.in_context_M[at]),
    )
