"""The draw: which neurons, as which items, in whose order. Pure, and decided by the secret alone.

There is one kind of chance here: to shuffle things is to sort them by HMAC-SHA256 under the secret, each
with its purpose and its name. So nothing depends on the order in which things are written down, one draw
says nothing about another, and whoever is given the secret can draw again with a few lines of any language.
An arm enters as its number in the study's list, never by its name, its condition or its size.
"""

import base64
import hmac
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from app.errors import Invalid
from app.studies.design import Design
from app.words.said import N_

_spelled = json.JSONEncoder(separators=(",", ":")).encode
"""Made once: making an encoder costs as much as using it."""
Thing = TypeVar("Thing", str, int)
SHOWN = "."
"""The letter of an offer that says a neuron can be shown; any other says why not."""
OF_DIRECTIONS = "|"
Offer = Sequence[str]
"""What an arm offers: a string a layer, a letter a neuron; behind a bar, a letter a random direction."""


LEVEL, RANK = "level", "rank"
"""How an item is shaded: by each activation's share of the maximum, or by its rank among those shown."""


class Unit(NamedTuple):
    """What an item shows."""

    arm: int
    """Number of the arm in the study's list, from 0."""
    kind: str
    """neuron, mixed or direction."""
    layer: int
    number: int
    """The index in its layer; for a mixed control, the number of the control in its arm."""


class DrawnItem(NamedTuple):
    """One item before it has a content."""

    code: str
    kind: str
    """neuron, mixed, direction or repeat."""
    unit: Unit
    neurons: tuple[int, ...]
    """The neuron (or direction) its snippets come from; for a mixed control, one neuron a snippet."""
    order: tuple[int, ...]
    """Which of the snippets (0 is the strongest) stands where."""
    capacity: int
    repeat_of: str | None
    tag: str
    """Equal for a neuron and its repeat, and says nothing else."""
    salt: str
    shading: str = LEVEL


class SeatOrder(NamedTuple):
    number: int
    share: int
    """The first `share` codes are the seat's own."""
    codes: tuple[str, ...]


class Replaced(NamedTuple):
    """A neuron that was drawn and could not be shown; the next one of its layer took its place."""

    arm: int
    layer: int
    number: int
    why: str


@dataclass(frozen=True)
class Allocation:
    items: tuple[DrawnItem, ...]
    """In the order of their codes, which is the order of nothing else."""
    seats: tuple[SeatOrder, ...]
    replaced: tuple[Replaced, ...]


def _spelled_one(thing: str | int) -> str:
    return str(thing) if isinstance(thing, int) else _spelled(thing)


@dataclass(frozen=True)
class Secret:
    """256 bits, and everything that is drawn from them."""

    key: bytes

    def digest(self, purpose: str, *name: str | int) -> bytes:
        return self._digest(_spelled([purpose, *name]))

    def _digest(self, spelled: str) -> bytes:
        keyed = self._keyed.copy()
        keyed.update(spelled.encode())
        return keyed.digest()

    @cached_property
    def _keyed(self) -> hmac.HMAC:
        """What only depends on the key is computed once, for it is most of the work."""
        return hmac.new(self.key, digestmod="sha256")

    def shuffled(self, things: Iterable[Thing], purpose: str, *name: str | int) -> list[Thing]:
        """Sorted by the digest of each under its purpose and its name, of which only the thing itself differs."""
        begin = _spelled([purpose, *name])[:-1]
        return sorted(things, key=lambda thing: self._digest(f"{begin},{_spelled_one(thing)}]"))

    def below(self, n: int, purpose: str, *name: str | int) -> int:
        """A number from 0 to n - 1. 256 bits modulo n: the bias is too small to matter."""
        return int.from_bytes(self.digest(purpose, *name), "big") % n


def draw(secret: bytes, design: Design, offers: Sequence[Offer]) -> Allocation:
    """Draw what is rated in a study, for whom and in which order. The same arguments always give the same.

    Raises Invalid where a layer of an arm has too few neurons that can be shown.
    """
    chance = Secret(secret)
    replaced: list[Replaced] = []
    items: list[DrawnItem] = []
    for arm, offer in enumerate(offers):
        items += _items_of_arm(chance, design, arm, offer, replaced)
    items.sort(key=lambda item: item.code)
    return Allocation(tuple(items), _seats(chance, design, items), tuple(replaced))


def quotas(total: int, ranked: Sequence[int]) -> dict[int, int]:
    """Spread `total` evenly over the layers; the first ones of the ranking get one more where it does not divide."""
    each, more = divmod(total, len(ranked))
    return {layer: each + (rank < more) for rank, layer in enumerate(ranked)}


# ---- items --------------------------------------------------------------------------------------


def neurons_of(letters: str) -> str:
    """The part of a layer's offer that is of neurons."""
    return letters.partition(OF_DIRECTIONS)[0]


def _items_of_arm(
    chance: Secret, design: Design, arm: int, offer: Offer, replaced: list[Replaced]
) -> Iterator[DrawnItem]:
    ranked = chance.shuffled(range(len(offer)), "layer", arm)
    mixed = quotas(design.mixed_per_arm, ranked)
    directions = quotas(design.directions_per_arm, ranked)
    number = 0
    for layer, letters in enumerate(offer):
        wanted = quotas(design.neurons_per_arm, ranked)[layer]
        need = wanted + design.snippets * mixed[layer]
        chosen = _choose(chance, arm, layer, neurons_of(letters), need, replaced)
        yield from _neurons(chance, design, arm, layer, ranked, chosen[:wanted])
        for at in range(wanted, need, design.snippets):
            neurons = tuple(chosen[at : at + design.snippets])
            unit = Unit(arm, "mixed", layer, number)
            yield drawn_item(chance, design, "mixed", unit, neurons, design.verdicts_per_neuron)
            number += 1
        for index in _choose_directions(chance, arm, layer, letters, directions[layer]):
            unit = Unit(arm, "direction", layer, index)
            yield drawn_item(chance, design, "direction", unit, (index,), design.verdicts_per_neuron)


def _neurons(
    chance: Secret, design: Design, arm: int, layer: int, ranked: Sequence[int], chosen: Sequence[int]
) -> Iterator[DrawnItem]:
    """The neurons of a layer, the first of them rated by more raters, the first of them shown again."""
    overlap, repeats = quotas(design.overlap, ranked)[layer], quotas(design.repeats_per_arm, ranked)[layer]
    by_rank = quotas(design.rank_shaded_per_arm, ranked)[layer]
    # Drawn apart from the neurons, so that those shaded by rank are not just those that more raters judge.
    rank_shaded = set(chance.shuffled(range(len(chosen)), "rank", arm, layer)[:by_rank])
    for place, index in enumerate(chosen):
        capacity = design.overlap_capacity if place < overlap else design.verdicts_per_neuron
        shading = RANK if place in rank_shaded else LEVEL
        unit = Unit(arm, "neuron", layer, index)
        item = drawn_item(chance, design, "neuron", unit, (index,), capacity, shading=shading)
        yield item
        if place < repeats:
            yield drawn_item(chance, design, "repeat", unit, item.neurons, capacity, item.code, shading)


def _choose(chance: Secret, arm: int, layer: int, letters: str, need: int, replaced: list[Replaced]) -> list[int]:
    """The first `need` neurons of the layer's draw that can be shown; those passed over are noted."""
    if letters.count(SHOWN) < need:
        raise Invalid(
            N_(
                "Layer %(layer)s of run number %(run)s has %(n)s neurons that can be shown, and the design needs "
                "%(need)s there. Ask for fewer neurons or controls an arm, or fewer snippets an item."
            ),
            layer=layer, run=arm + 1, n=letters.count(SHOWN), need=need,
        )  # fmt: skip
    chosen: list[int] = []
    for index in chance.shuffled(range(len(letters)), "neuron", arm, layer):
        if len(chosen) == need:
            break
        if letters[index] == SHOWN:
            chosen.append(index)
        else:
            replaced.append(Replaced(arm, layer, index, letters[index]))
    return chosen


def _choose_directions(chance: Secret, arm: int, layer: int, letters: str, need: int) -> list[int]:
    offered = letters.partition(OF_DIRECTIONS)[2]
    shown = [index for index, letter in enumerate(offered) if letter == SHOWN]
    if len(shown) < need:
        raise Invalid(
            N_(
                "Layer %(layer)s of run number %(run)s has %(n)s random directions that can be shown, and the design "
                "needs %(need)s there. Ask for fewer, or collect with more: glance-runner collect --directions N."
            ),
            layer=layer, run=arm + 1, n=len(shown), need=need,
        )  # fmt: skip
    return chance.shuffled(shown, "direction", arm, layer)[:need]


def drawn_item(
    chance: Secret,
    design: Design,
    kind: str,
    unit: Unit,
    neurons: tuple[int, ...],
    capacity: int,
    repeat_of: str | None = None,
    shading: str = LEVEL,
) -> DrawnItem:
    """An item with everything about it that the secret decides."""
    name = (kind, *unit)
    order = list(range(design.snippets))
    if design.repeats_per_arm:  # then every item's, so that a repeat has the form of the others
        order = chance.shuffled(order, "snippet", *name)
    code = base64.urlsafe_b64encode(chance.digest("code", *name)[:12]).decode()
    tag, salt = chance.digest("tag", *unit).hex(), chance.digest("salt", *name).hex()
    return DrawnItem(code, kind, unit, neurons, tuple(order), capacity, repeat_of, tag, salt, shading)


# ---- seats --------------------------------------------------------------------------------------


def _seats(chance: Secret, design: Design, items: Sequence[DrawnItem]) -> tuple[SeatOrder, ...]:
    repeat_of = {item.repeat_of: item.code for item in items if item.repeat_of}
    owners = _owners(chance, design, [item for item in items if item.repeat_of is None])
    return tuple(_seat(chance, design, number, owners, repeat_of) for number in range(1, design.seats + 1))


def _owners(chance: Secret, design: Design, items: Sequence[DrawnItem]) -> dict[str, set[int]]:
    """Deal the items to seats: each seat gets as many of an arm as any other, give or take one."""
    dealt: dict[int, dict[int, int]] = {item.unit.arm: dict.fromkeys(range(1, design.seats + 1), 0) for item in items}
    load = dict.fromkeys(range(1, design.seats + 1), 0)
    owners: dict[str, set[int]] = {}
    by_code = {item.code: item for item in items}
    for code in chance.shuffled(by_code, "deal"):
        of_arm = dealt[by_code[code].unit.arm]
        ranked = sorted(load, key=lambda seat: (of_arm[seat], load[seat], chance.digest("deal", code, seat)))
        owners[code] = set(ranked[: by_code[code].capacity])
        for seat in owners[code]:
            of_arm[seat] += 1
            load[seat] += 1
    return owners


def _seat(
    chance: Secret,
    design: Design,
    number: int,
    owners: dict[str, set[int]],
    repeat_of: dict[str, str],
) -> SeatOrder:
    order = chance.shuffled(owners, "order", number)
    own = [code for code in order if number in owners[code]]
    rest = [code for code in order if number not in owners[code]]
    own = _with_repeats(chance, design.repeat_distance, number, own, repeat_of)
    return SeatOrder(number, len(own), tuple(own + rest))


def _with_repeats(chance: Secret, distance: int, number: int, own: list[str], repeat_of: dict[str, str]) -> list[str]:
    """Put each repeat of the seat's own items at a drawn place, far enough behind its first showing."""
    firsts = [code for code in own if code in repeat_of]
    room = len(own) - distance + 1  # a first showing at one of these places leaves enough behind it
    if len(firsts) > max(room, 0):
        raise Invalid(
            N_(
                "Seat %(seat)s has %(n)s items of its own, too few for %(repeats)s repeats at a distance of "
                "%(distance)s places. Ask for fewer repeats or a shorter distance."
            ),
            seat=number, n=len(own), repeats=len(firsts), distance=distance,
        )  # fmt: skip
    own = _brought_forward(chance, number, own, set(firsts), room)
    for code in firsts:
        earliest = own.index(code) + distance
        own.insert(earliest + chance.below(len(own) - earliest + 1, "repeat", number, code), repeat_of[code])
    return own


def _brought_forward(chance: Secret, number: int, own: list[str], firsts: set[str], room: int) -> list[str]:
    """Exchange first showings that stand too late with items that stand early enough."""
    late = [at for at in range(len(own)) if at >= room and own[at] in firsts]
    early = chance.shuffled([at for at in range(max(room, 0)) if own[at] not in firsts], "early", number)
    moved = list(own)
    for here, there in zip(late, early, strict=False):
        moved[here], moved[there] = moved[there], moved[here]
    return moved
