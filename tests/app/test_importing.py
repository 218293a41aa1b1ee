"""From a run folder to what raters see."""

from pathlib import Path

import pytest

from app.rating.shading import render_item
from app.studies.design import Design
from app.studies.draw import DrawnItem, Unit
from app.studies.importing import LETTERS, Arm, listed, read_arms, snippets_of
from model_runner.run_folder import STATES
from tests.runs import ALWAYS_PRESENT, make_run
from tests.studies import two_runs

SNIPPETS = 20
FAR = 10_000


@pytest.fixture(scope="module")
def arms() -> list[Arm]:
    return read_arms(two_runs(), SNIPPETS)


def an_item(neurons: tuple[int, ...], order: tuple[int, ...] = tuple(range(SNIPPETS)), layer: int = 1) -> DrawnItem:
    return DrawnItem("code", "neuron", Unit(0, "neuron", layer, 0), neurons, order, 1, None, "tag", "salt")


def showable(arm: Arm, layer: int = 1) -> list[int]:
    return [number for number, letter in enumerate(arm.offer[layer]) if letter == "."]


def test_an_offer_says_of_every_neuron_whether_it_can_be_shown(arms: list[Arm]) -> None:
    assert set(LETTERS) == set(STATES)
    assert [len(layer) for layer in arms[0].offer] == [32, 32]
    assert [len(layer) for layer in arms[1].offer] == [24, 24, 24]
    for state in ("dead", "too_few", "never_positive"):
        assert arms[0].offer[0][ALWAYS_PRESENT[state]] == LETTERS[state]


def test_a_neuron_with_fewer_snippets_than_the_design_shows_is_not_offered(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / name, name, kept=SNIPPETS).folder for name in ("gelu", "solu")]
    few = ALWAYS_PRESENT["too_few"]
    assert {arm.offer[0][few] for arm in read_arms(runs, SNIPPETS)} == {"f"}


def test_snippets_are_those_of_the_neuron_strongest_first_on_its_own_scale(arms: list[Arm]) -> None:
    arm = arms[0]
    neuron = showable(arm)[0]
    shown = snippets_of(arm, an_item((neuron,)), FAR)
    kept = arm.run.snippets("top", 32 + neuron)
    assert [one.activations[one.peak] for one in shown] == pytest.approx([s.value / kept[0].value for s in kept[:20]])
    for one, snippet in zip(shown, kept, strict=False):
        text = b"".join(arm.run.token_bytes(t) for t in snippet.tokens_W.tolist() if t not in arm.run.specials)
        assert b"".join(one.texts) == text
        assert one.texts[one.peak] == arm.run.token_bytes(int(snippet.tokens_W[snippet.peak]))


def test_a_mixed_control_takes_the_kth_snippet_of_the_kth_neuron(arms: list[Arm]) -> None:
    arm = arms[0]
    neurons = tuple(showable(arm)[:SNIPPETS])
    shown = snippets_of(arm, an_item(neurons), FAR)
    for rank, (one, neuron) in enumerate(zip(shown, neurons, strict=True)):
        kept = arm.run.snippets("top", 32 + neuron)
        assert one.activations[one.peak] == pytest.approx(kept[rank].value / kept[0].value)


def test_a_drawn_order_reorders_and_changes_nothing_else(arms: list[Arm]) -> None:
    neuron = (showable(arms[0])[0],)
    order = tuple(reversed(range(SNIPPETS)))
    assert snippets_of(arms[0], an_item(neuron, order), FAR) == snippets_of(arms[0], an_item(neuron), FAR)[::-1]


def test_what_is_out_of_reach_would_not_have_been_shown(arms: list[Arm]) -> None:
    """Reading only around the peak gives the same page as reading whole contexts."""
    for tokens, wide in ((8, 12), (16, 24)):
        for neuron in showable(arms[0])[:6]:
            item = an_item((neuron,))
            whole, near = (snippets_of(arms[0], item, reach) for reach in (FAR, wide))
            assert any(len(a.texts) > len(b.texts) for a, b in zip(whole, near, strict=True))
            assert render_item(near, tokens, wide) == render_item(whole, tokens, wide)


def test_only_finished_runs_are_listed(tmp_path: Path) -> None:
    make_run(tmp_path / "whole", "gelu")
    (tmp_path / "half").mkdir()
    (tmp_path / "file").write_text("no run")
    assert [name for name, _ in listed(tmp_path)] == ["whole"]
    assert listed(tmp_path / "nowhere") == []


def test_the_default_design_is_the_papers() -> None:
    assert (Design().neurons_per_arm, Design().snippets, Design().tokens) == (60, 20, 64)
