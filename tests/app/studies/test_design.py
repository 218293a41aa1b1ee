from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import Invalid
from app.studies.design import Design
from app.studies.draw import Allocation, Offer, draw, quotas
from app.studies.seal import digest, sealed

SECRETS = st.binary(min_size=32, max_size=32)
LETTERS = st.sampled_from("." * 9 + "dnfx")


@st.composite
def offers(draw_: st.DrawFn, least: int = 24) -> list[Offer]:
    """Two to four arms of different depths, each layer with enough neurons that can be shown and some that cannot."""
    arms = draw_(st.integers(2, 4))
    layers = [draw_(st.integers(1, 4)) for _ in range(arms)]
    return [
        [
            "".join(draw_(st.lists(LETTERS, max_size=12))) + "." * least + "d" * draw_(st.integers(0, 8))
            for _ in range(n)
        ]
        for n in layers
    ]


@st.composite
def designs(draw_: st.DrawFn) -> Design:
    seats = draw_(st.integers(1, 5))
    neurons = draw_(st.integers(1, 12))
    return Design(
        neurons_per_arm=neurons,
        snippets=4,
        seats=seats,
        verdicts_per_neuron=draw_(st.integers(1, seats)),
        overlap=draw_(st.integers(0, neurons)),
        mixed_per_arm=draw_(st.integers(0, 3)),
        tokens=64,
    )


@settings(max_examples=80, deadline=None)
@given(SECRETS, designs(), offers())
def test_a_draw_is_fair_whole_and_repeatable(secret: bytes, design: Design, offered: list[Offer]) -> None:
    allocation = draw(secret, design, offered)
    assert allocation == draw(secret, design, offered)
    _check_neurons(allocation, design, offered)
    _check_capacities(allocation, design, len(offered))
    _check_seats(allocation, design, len(offered))


def _check_neurons(allocation: Allocation, design: Design, offered: list[Offer]) -> None:
    drawn = [item for item in allocation.items if item.kind == "neuron"]
    assert len({item.unit for item in drawn}) == len(drawn)
    for arm, offer in enumerate(offered):
        mine = [item.unit for item in drawn if item.unit.arm == arm]
        assert len(mine) == design.neurons_per_arm
        a_layer = [sum(unit.layer == layer for unit in mine) for layer in range(len(offer))]
        assert max(a_layer) - min(a_layer) <= 1
        assert all(offer[unit.layer][unit.number] == "." for unit in mine)
    used = [(item.unit.arm, item.unit.layer, n) for item in allocation.items for n in item.neurons]
    assert len(set(used)) == len(used), "a control never shows a neuron that is rated too"
    for one in allocation.replaced:
        assert offered[one.arm][one.layer][one.number] == one.why != "."


def _check_capacities(allocation: Allocation, design: Design, arms: int) -> None:
    assert sum(item.capacity for item in allocation.items) == design.verdicts(arms)
    for arm in range(arms):
        of_arm = [item for item in allocation.items if item.unit.arm == arm]
        mixed = [item for item in of_arm if item.kind == "mixed"]
        assert len(mixed) == design.mixed_per_arm
        assert all(len(set(item.neurons)) == design.snippets for item in mixed)
        counts = Counter(item.capacity for item in of_arm if item.kind == "neuron")
        if design.verdicts_per_neuron != design.seats:
            assert counts[design.seats] == design.overlap


def _check_seats(allocation: Allocation, design: Design, arms: int) -> None:
    of = {item.code: item for item in allocation.items}
    owners = Counter(code for seat in allocation.seats for code in seat.codes[: seat.share])
    assert owners == {code: item.capacity for code, item in of.items()}
    for seat in allocation.seats:
        assert sorted(seat.codes) == sorted(of), "everybody may go on to every item"
    for arm in range(arms):
        shares = [sum(of[code].unit.arm == arm for code in seat.codes[: seat.share]) for seat in allocation.seats]
        assert max(shares) - min(shares) <= 1, "raters get as much of one arm as any other"


@settings(max_examples=40, deadline=None)
@given(SECRETS, SECRETS, offers())
def test_another_secret_draws_another_study(one: bytes, other: bytes, offered: list[Offer]) -> None:
    design = Design(neurons_per_arm=8, snippets=4, seats=2)
    same = draw(one, design, offered) == draw(other, design, offered)
    assert same == (one == other)


@settings(max_examples=60, deadline=None)
@given(SECRETS, st.integers(1, 4), st.integers(1, 8), st.integers(1, 3))
def test_a_repeat_comes_late_and_only_to_who_saw_the_first(
    secret: bytes, repeats: int, distance: int, seats: int
) -> None:
    design = Design(neurons_per_arm=24, snippets=4, seats=seats, repeats_per_arm=repeats, repeat_distance=distance)
    allocation = draw(secret, design, [["." * 40], ["." * 20] * 2])
    items = {item.code: item for item in allocation.items}
    for seat in allocation.seats:
        for at, code in enumerate(seat.codes):
            first = items[code].repeat_of
            if first is not None:
                assert at < seat.share
                assert at - seat.codes.index(first) >= distance
                assert items[first].tag == items[code].tag
    placed = Counter(code for seat in allocation.seats for code in seat.codes)
    assert all(placed[item.code] == item.capacity for item in allocation.items if item.kind == "repeat")


def test_orders_follow_neither_the_arm_nor_each_other() -> None:
    """Runs of one arm are as long as chance makes them, and two seats share no order: over many secrets."""
    design = Design(neurons_per_arm=30, snippets=4, seats=2, verdicts_per_neuron=2)
    changes, ahead, early = 0, 0, Counter[int]()
    for number in range(200):
        allocation = draw(number.to_bytes(32, "big"), design, [["." * 40], ["." * 40]])
        of = {item.code: item for item in allocation.items}
        first, second = (seat.codes for seat in allocation.seats)
        changes += sum(of[a].unit.arm != of[b].unit.arm for a, b in pairwise(first))
        early.update(of[code].unit.arm for code in first[:10])
        place = {code: at for at, code in enumerate(second)}
        ahead += sum(place[a] < place[b] for a, b in pairwise(first))
    assert abs(changes / 200 / 59 - 30 / 59) < 0.02
    assert abs(early[0] / 2000 - 0.5) < 0.05
    assert abs(ahead / 200 / 59 - 0.5) < 0.02


def test_every_neuron_is_as_likely_as_any_other() -> None:
    design = Design(neurons_per_arm=5, snippets=4, seats=1)
    chosen = Counter(
        item.unit.number
        for number in range(1000)
        for item in draw(number.to_bytes(32, "big"), design, [["." * 20], ["." * 20]]).items
        if item.unit.arm == 0
    )
    assert sum((chosen[neuron] - 250) ** 2 / 250 for neuron in range(20)) < 43.8  # chi-squared, 19 degrees, p = 0.001


def test_codes_and_tags_say_nothing_of_the_arm() -> None:
    """The items' order is that of their codes; over many secrets each arm comes first about as often."""
    design = Design(neurons_per_arm=3, snippets=4, seats=1)
    first = sum(
        draw(number.to_bytes(32, "big"), design, [["." * 9], ["." * 9]]).items[0].unit.arm for number in range(400)
    )
    assert 150 < first < 250


def test_repeats_that_do_not_fit_are_said() -> None:
    design = Design(neurons_per_arm=5, snippets=4, seats=1, repeats_per_arm=3, repeat_distance=8)
    with pytest.raises(Invalid, match="too few for 6 repeats at a distance of 8 places"):
        draw(bytes(32), design, [["." * 9], ["." * 9]])


GOLDEN = [
    (
        {"neurons_per_arm": 12, "overlap": 4},
        "13295d9935a6a23675ed73dc70662f9636b1fb852681f82bf86409483be92080",
        "54c34c1739e617c628c58f3d161a8f134b0336bd2103a2c7875275b55238b164",
    ),
    (
        {"neurons_per_arm": 9, "seats": 2, "mixed_per_arm": 2, "repeats_per_arm": 2, "repeat_distance": 3},
        "a8ddce7fb05c2b32a21bafba5055b384eac8936104b5dae3e991e159a8b80dd6",
        "04d915a0bcfd64f720b4b29af64223f30a4f4a081ff86243fe22e23011175ad1",
    ),
]
"""What the first release drew, and its seals."""
GOLDEN_OFFERS = [["..d" + "." * 40, "f" + "." * 40], ["." * 60]]


@pytest.mark.parametrize(("asked", "drawn", "root"), GOLDEN)
def test_a_study_of_the_first_release_is_drawn_again_to_the_last_byte(
    asked: dict[str, Any], drawn: str, root: str
) -> None:
    design, secret = Design(snippets=4, **asked), bytes(range(32))
    allocation = draw(secret, design, GOLDEN_OFFERS)
    assert digest([[list(item)[:9] for item in allocation.items], allocation.seats, allocation.replaced]) == drawn
    assert sealed(design, {}, [], {}, allocation, secret).root == root


WITH_DIRECTIONS = [["." * 20 + "|" + "..d.."] * 2, ["." * 20 + "|" + "....."] * 3]


def test_random_directions_are_drawn_as_controls() -> None:
    design = Design(neurons_per_arm=6, snippets=4, seats=2, directions_per_arm=5)
    allocation = draw(bytes(32), design, WITH_DIRECTIONS)
    directions = [item for item in allocation.items if item.kind == "direction"]
    for arm, offer in enumerate(WITH_DIRECTIONS):
        mine = [item.unit for item in directions if item.unit.arm == arm]
        assert len(set(mine)) == len(mine) == 5
        assert {unit.kind for unit in mine} == {"direction"}
        assert all(offer[unit.layer].partition("|")[2][unit.number] == "." for unit in mine)
    assert sum(item.capacity for item in allocation.items) == design.verdicts(2) == 22


def test_directions_leave_the_draw_of_the_neurons_as_it_was() -> None:
    asked = {"neurons_per_arm": 6, "snippets": 4, "seats": 2}
    without = draw(bytes(32), Design(**asked), WITH_DIRECTIONS).items  # type: ignore[arg-type]
    with_them = draw(bytes(32), Design(**asked, directions_per_arm=4), WITH_DIRECTIONS).items  # type: ignore[arg-type]
    assert [item for item in with_them if item.kind != "direction"] == list(without)


def test_too_few_directions_are_said() -> None:
    with pytest.raises(Invalid, match=r"Layer 0 of run number 1 has 4 random directions that can be shown, and .* 5"):
        draw(bytes(32), Design(neurons_per_arm=2, snippets=4, directions_per_arm=10), WITH_DIRECTIONS)


@settings(max_examples=40, deadline=None)
@given(SECRETS, st.integers(0, 12), st.integers(0, 12))
def test_as_many_of_each_arm_and_layer_are_shaded_by_rank(secret: bytes, by_rank: int, overlap: int) -> None:
    design = Design(
        neurons_per_arm=12, snippets=4, seats=3, rank_shaded_per_arm=by_rank, overlap=overlap, repeats_per_arm=2,
        repeat_distance=2,
    )  # fmt: skip
    allocation = draw(secret, design, [["." * 20] * 3, ["." * 20] * 2])
    items = {item.code: item for item in allocation.items}
    for arm, layers in enumerate((3, 2)):
        mine = [i for i in allocation.items if i.kind == "neuron" and i.unit.arm == arm and i.shading == "rank"]
        assert len(mine) == by_rank
        a_layer = Counter(item.unit.layer for item in mine)
        assert max(a_layer[layer] for layer in range(layers)) - min(a_layer[layer] for layer in range(layers)) <= 1
    for item in allocation.items:
        assert item.repeat_of is None or items[item.repeat_of].shading == item.shading


def test_which_neurons_are_shaded_by_rank_does_not_follow_who_rates_them() -> None:
    """Of the neurons that everybody rates, as many are shaded by rank as of the others, over many secrets."""
    design = Design(neurons_per_arm=10, snippets=4, seats=3, rank_shaded_per_arm=5, overlap=5)
    both = sum(
        item.shading == "rank" and item.capacity == 3
        for number in range(200)
        for item in draw(number.to_bytes(32, "big"), design, [["." * 20], ["." * 20]]).items
    )
    assert abs(both / 400 - 2.5) < 0.25


def test_quotas_spread_evenly() -> None:
    assert quotas(7, [2, 0, 1]) == {2: 3, 0: 2, 1: 2}
    assert quotas(0, [0, 1]) == {0: 0, 1: 0}


def test_a_layer_with_too_few_neurons_is_said() -> None:
    with pytest.raises(
        Invalid, match="Layer 0 of run number 2 has 3 neurons that can be shown, and the design needs 5"
    ):
        draw(bytes(32), Design(neurons_per_arm=5, snippets=4), [["." * 9], ["...dd"]])


FIRST_FIELDS = {
    "neurons_per_arm": 60, "snippets": 20, "verdicts_per_neuron": 1, "overlap": 0, "overlap_verdicts": 0, "seats": 3,
    "mixed_per_arm": 0, "repeats_per_arm": 0, "repeat_distance": 20, "tokens": 64, "wide_tokens": 128,
}  # fmt: skip
"""A design as the first studies stored it."""


def test_a_design_of_the_first_studies_is_stored_as_it_was() -> None:
    assert Design().as_dict() == FIRST_FIELDS
    assert Design.of(FIRST_FIELDS) == Design()
    later = Design(practice_items=6, check_snippets=12, guesses=20, unblinders=2, instructions="Read it all.")
    assert set(later.as_dict()) - set(FIRST_FIELDS) == {
        "practice_items", "check_snippets", "guesses", "unblinders", "instructions"
    }  # fmt: skip
    assert Design.of(later.as_dict()) == later


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"unblinders": 3}, "Persons it takes to unblind can be at most 2; it is 3"),
        ({"snippet_choice": "bottom"}, "one of top, spectrum; it is bottom"),
        ({"rank_shaded_per_arm": 61}, r"shaded by rank \(61\) cannot be more than “Neurons an arm” \(60\)"),
        ({"clock_seconds": 130}, r"clock turns \(130\) cannot be more than “Seconds until the clock is full” \(120\)"),
        ({"instructions": "x" * 4001}, "4001 characters; at most 4000"),
    ],
)
def test_what_a_design_cannot_be_is_said(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(Invalid, match=said):
        Design(**wrong)


def test_a_stored_design_comes_back() -> None:
    design = Design(neurons_per_arm=7, overlap=3)
    assert Design.of(design.as_dict()) == design
    with pytest.raises(Invalid, match="shuffle"):
        Design.of({**design.as_dict(), "shuffle": 1})
