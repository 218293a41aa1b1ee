"""From a run folder to what raters see."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.errors import Invalid
from app.rating.shading import render_item
from app.rating.snippets import Shown, on_each_side, reach
from app.studies.design import Design
from app.studies.draw import DrawnItem, Unit
from app.studies.importing import LETTERS, Arm, kept_of, listed, read_arms, snippets_of
from app.studies.spectrum import chosen, sections
from model_runner.run.arrays import STATES
from tests.runs import ALWAYS_PRESENT, make_run
from tests.studies import two_runs

SNIPPETS = 20
FAR = on_each_side(10_000)
DESIGN = Design(snippets=SNIPPETS)


@pytest.fixture(scope="module")
def arms() -> list[Arm]:
    return read_arms(two_runs(), DESIGN)


def an_item(neurons: tuple[int, ...], order: tuple[int, ...] = tuple(range(SNIPPETS)), layer: int = 1) -> DrawnItem:
    return DrawnItem("code", "neuron", Unit(0, "neuron", layer, 0), neurons, order, 1, None, "tag", "salt")


def showable(arm: Arm, layer: int = 1) -> list[int]:
    return [number for number, letter in enumerate(arm.offer[layer]) if letter == "."]


def plain(shown: Shown) -> Shown:
    """With a list instead of an array, so that it can be compared."""
    return shown._replace(activations=list(shown.activations))


def test_an_offer_says_of_every_neuron_whether_it_can_be_shown(arms: list[Arm]) -> None:
    assert set(LETTERS) == set(STATES)
    assert [len(layer) for layer in arms[0].offer] == [32, 32]
    assert [len(layer) for layer in arms[1].offer] == [24, 24, 24]
    for state in ("dead", "too_few", "never_positive"):
        assert arms[0].offer[0][ALWAYS_PRESENT[state]] == LETTERS[state]


def test_a_neuron_with_fewer_snippets_than_the_design_shows_is_not_offered(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / name, name, kept=SNIPPETS).folder for name in ("gelu", "solu")]
    few = ALWAYS_PRESENT["too_few"]
    assert {arm.offer[0][few] for arm in read_arms(runs, DESIGN)} == {"f"}


def test_snippets_are_those_of_the_neuron_strongest_first_on_its_own_scale(arms: list[Arm]) -> None:
    arm = arms[0]
    neuron = showable(arm)[0]
    shown = snippets_of(arm, an_item((neuron,)), DESIGN, FAR)
    kept = arm.run.snippets("top", 32 + neuron)
    assert [one.activations[one.peak] for one in shown] == pytest.approx([s.value / kept[0].value for s in kept[:20]])
    for one, snippet in zip(shown, kept, strict=False):
        text = b"".join(arm.run.token_bytes(t) for t in snippet.tokens_W.tolist() if t not in arm.run.specials)
        assert b"".join(one.texts) == text
        assert one.texts[one.peak] == arm.run.token_bytes(int(snippet.tokens_W[snippet.peak]))


def test_a_mixed_control_takes_the_kth_snippet_of_the_kth_neuron(arms: list[Arm]) -> None:
    arm = arms[0]
    neurons = tuple(showable(arm)[:SNIPPETS])
    shown = snippets_of(arm, an_item(neurons), DESIGN, FAR)
    for rank, (one, neuron) in enumerate(zip(shown, neurons, strict=True)):
        kept = arm.run.snippets("top", 32 + neuron)
        assert one.activations[one.peak] == pytest.approx(kept[rank].value / kept[0].value)


def test_a_mixed_controls_profile_is_that_of_a_neuron(arms: list[Arm]) -> None:
    """Its first snippet is its own neuron's strongest, at the full shade, and the k-th as pale as a k-th one is."""
    shown = snippets_of(arms[0], an_item(tuple(showable(arms[0])[:SNIPPETS])), DESIGN, FAR)
    peaks = [one.activations[one.peak] for one in shown]
    assert peaks[0] == 1
    assert all(0 < peak <= 1 for peak in peaks)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs with bands and random directions."""
    folder = tmp_path_factory.mktemp("complete")
    return [make_run(folder / name, name, directions=4, bands=True).folder for name in ("gelu", "solu")]


def test_random_directions_are_offered_only_where_the_design_asks(complete: list[Path]) -> None:
    assert all("|" not in layer for arm in read_arms(complete, DESIGN) for layer in arm.offer)
    asked = read_arms(complete, replace(DESIGN, directions_per_arm=2))
    assert {len(layer.partition("|")[2]) for arm in asked for layer in arm.offer} == {4}
    with pytest.raises(Invalid, match=r"has no random directions\. Collect it again with --directions N"):
        read_arms(two_runs(), replace(DESIGN, directions_per_arm=2))


def test_a_direction_is_shown_on_the_scale_of_its_own_maximum(complete: list[Path]) -> None:
    arm = read_arms(complete, replace(DESIGN, directions_per_arm=2))[0]
    item = DrawnItem("c", "direction", Unit(0, "direction", 1, 2), (2,), tuple(range(SNIPPETS)), 1, None, "t", "s")
    shown = snippets_of(arm, item, DESIGN, FAR)
    kept = arm.run.snippets("top", 2 * 32 + 4 + 2)
    assert [one.activations[one.peak] for one in shown] == pytest.approx([s.value / kept[0].value for s in kept])


SPECTRUM = Design(snippets=12, snippet_choice="spectrum")


def test_a_spectrum_is_half_the_strongest_and_half_of_the_bands(complete: list[Path]) -> None:
    assert sections(SPECTRUM) == {"top": 6, "band-1": 2, "band-2": 1, "band-3": 1, "band-4": 1, "band-5": 1}
    arm = read_arms(complete, SPECTRUM)[0]
    neuron = showable(arm)[0]
    shown = snippets_of(arm, an_item((neuron,), tuple(range(12))), SPECTRUM, FAR)
    top = arm.run.snippets("top", 32 + neuron)
    peaks = [one.activations[one.peak] for one in shown]
    assert peaks[:6] == pytest.approx([one.value / top[0].value for one in top[:6]])
    assert peaks[6:] == sorted(peaks[6:], reverse=True)
    assert peaks[-1] < peaks[5]
    places = {(one.document, one.start) for one in kept_of(arm.run, 32 + neuron, SPECTRUM) or []}
    assert len(places) == 12, "nothing is shown twice"


def test_a_spectrum_needs_bands_and_says_so() -> None:
    with pytest.raises(Invalid, match=r"has no section band-1\. Collect it again with --complete"):
        read_arms(two_runs(), SPECTRUM)


def test_a_neuron_whose_bands_hold_too_little_is_not_offered(complete: list[Path]) -> None:
    arm = read_arms(complete, SPECTRUM)[0]
    wide = Design(snippets=20, snippet_choice="spectrum")
    wanted, row = sections(wide), 32 + showable(arm)[0]
    assert kept_of(arm.run, row, wide)
    read = {section: arm.run.snippets(section, row) for section in wanted} | {"band-3": []}
    assert chosen(wanted, read.__getitem__, lambda one: (one.document, one.start)) is None


def test_runs_of_other_splits_stand_beside_the_run_of_their_model(tmp_path: Path) -> None:
    rated = [make_run(tmp_path / name, name).folder for name in ("gelu", "solu")]
    practice = [make_run(tmp_path / f"{name}-p", name, split="practice").folder for name in ("gelu", "solu")]
    arms = read_arms([practice[1], *rated, practice[0]], DESIGN)
    assert [arm.info.condition for arm in arms] == ["gelu", "solu"]
    assert [arm.others["practice"].info.condition for arm in arms] == ["gelu", "solu"]
    assert arms[0].others["practice"].info.digest != arms[0].info.digest
    stranger = make_run(tmp_path / "stranger", "gelu_ln", split="check").folder
    with pytest.raises(Invalid, match="on the split check of a model that no other run is of"):
        read_arms([*rated, stranger], DESIGN)


def test_a_drawn_order_reorders_and_changes_nothing_else(arms: list[Arm]) -> None:
    neuron, order = (showable(arms[0])[0],), tuple(reversed(range(SNIPPETS)))
    reordered, ordered = (snippets_of(arms[0], item, DESIGN, FAR) for item in (an_item(neuron, order), an_item(neuron)))
    assert [plain(one) for one in reordered] == [plain(one) for one in reversed(ordered)]


def test_what_is_out_of_reach_would_not_have_been_shown(arms: list[Arm]) -> None:
    """Reading only around the peak gives the same page as reading whole contexts."""
    for tokens, wide in ((8, 12), (16, 24)):
        for neuron in showable(arms[0])[:6]:
            item = an_item((neuron,))
            whole, near = (snippets_of(arms[0], item, DESIGN, tokens) for tokens in (FAR, reach(wide)))
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
