"""The seal: one number that fixes a study before its first verdict. Pure.

Every item has a leaf: SHA-256 over what it is and a salt, so that a leaf tells nothing by itself. The root of
a Merkle tree over the leaves and over the digests of the arms, the design, the plan, the contents, the seats
and the neurons that were replaced is the seal. It is public from the start. The secret, published at the end,
lets anyone draw again and arrive at the same root, and one opened item can be checked alone.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from app.studies.design import Design
from app.studies.draw import LEVEL, Allocation, DrawnItem
from app.studies.whole_draw import draw_again

_spelled = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def canonical(value: Any) -> bytes:
    """JSON of one spelling: keys sorted, no spaces, UTF-8."""
    return _spelled(value).encode()


def digest(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def content_digest(fragment: bytes, wide_fragment: bytes) -> str:
    """Of both forms of an item; each is hashed first, so that no byte can wander between them."""
    return hashlib.sha256(hashlib.sha256(fragment).digest() + hashlib.sha256(wide_fragment).digest()).hexdigest()


def item_key(item: DrawnItem) -> dict[str, Any]:
    """What is encrypted for an item, and what its leaf fixes."""
    shading = {} if item.shading == LEVEL else {"shading": item.shading}  # left out: first studies did not say it
    return shading | {
        "code": item.code,
        "kind": item.kind,
        "arm": item.unit.arm,
        "unit_kind": item.unit.kind,
        "layer": item.unit.layer,
        "number": item.unit.number,
        "neurons": list(item.neurons),
        "order": list(item.order),
        "capacity": item.capacity,
        "repeat_of": item.repeat_of,
        "salt": item.salt,
    }


def leaf(key: Mapping[str, Any]) -> str:
    """The salted leaf of an item, from its opened key."""
    return _leaf(canonical(key))


def _leaf(content: bytes) -> str:
    return hashlib.sha256(b"\x00" + content).hexdigest()


def _node(left: str, right: str) -> str:
    return hashlib.sha256(b"\x01" + bytes.fromhex(left) + bytes.fromhex(right)).hexdigest()


def merkle_root(leaves: Sequence[str]) -> str:
    """The root of the tree of RFC 6962, whose leaves and nodes are hashed apart."""
    if not leaves:
        return hashlib.sha256(b"").hexdigest()
    level = list(leaves)
    while len(level) > 1:
        # An odd one at the end goes up as it is, which gives the same tree as splitting at powers of two.
        pairs = [_node(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) - len(level) % 2 :]
    return level[0]


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is public of a sealed study: enough to check it once the secret is."""

    design: dict[str, Any]
    plan: dict[str, Any]
    arms: list[dict[str, Any]]
    """In the study's order: name, condition, size, seed, run_digest and offer of each."""
    leaves: dict[str, str]
    """Of every item, by its code."""
    contents: dict[str, str]
    """The digest of what raters are shown, by the item's code."""
    seats: list[dict[str, Any]]
    """number, share and codes of each."""
    parts: dict[str, str]
    root: str
    lessons: dict[str, Any] = field(default_factory=dict)
    """What each practice item teaches, by its code: verdict, text and covered."""


def sealed(
    design: Design,
    plan: dict[str, Any],
    arms: list[dict[str, Any]],
    contents: dict[str, str],
    allocation: Allocation,
    secret: bytes,
    lessons: Mapping[str, Any] | None = None,
) -> Record:
    """Close a study: everything that is fixed from now on, and its root."""
    leaves = {item.code: leaf(item_key(item)) for item in allocation.items}
    seats = [{"number": s.number, "share": s.share, "codes": list(s.codes)} for s in allocation.seats]
    public: dict[str, Any] = {
        "arms": arms,
        "contents": contents,
        "design": design.as_dict(),
        "plan": plan,
        "seats": seats,
    }
    if lessons:  # left out where there is no practice: first studies did not say it
        public["lessons"] = dict(lessons)
    parts = {name: digest(value) for name, value in public.items()}
    parts["replaced"] = _replaced_digest(allocation, secret)
    return Record(**public, leaves=leaves, parts=parts, root=root_of(leaves, parts))


def root_of(leaves: Mapping[str, str], parts: Mapping[str, str]) -> str:
    return merkle_root(ordered_leaves(leaves, parts))


def ordered_leaves(leaves: Mapping[str, str], parts: Mapping[str, str]) -> list[str]:
    """As they stand in the tree: the items by their codes, then the digests beside them by their names."""
    ends = [_leaf(canonical([name, parts[name]])) for name in sorted(parts)]
    return [*(leaves[code] for code in sorted(leaves)), *ends]


def _replaced_digest(allocation: Allocation, secret: bytes) -> str:
    # Salted: how many neurons an arm had to replace stays closed until the end.
    return hmac.new(secret, b"replaced" + canonical(allocation.replaced), "sha256").hexdigest()


PARTS = {  # whole sentences, so that they can be translated
    "arms": "The arms are not what was sealed.",
    "contents": "What raters saw is not what was sealed.",
    "design": "The design is not what was sealed.",
    "lessons": "What practice teaches is not what was sealed.",
    "plan": "The plan is not what was sealed.",
    "seats": "The orders of the seats are not what was sealed.",
}
ROOT = "The leaves and digests do not lead to the root that was sealed."
ITEMS = "The items that have a leaf are not the items that have a content."
DRAWN = "The secret draws other items than the ones that were sealed."
ORDERED = "The secret draws other orders than the ones that were sealed."
REPLACED = "The secret replaces other neurons than was sealed."


def broken(record: Record) -> list[str]:
    """What does not fit together in a record, before the secret is known. Empty when all does."""
    values = asdict(record)
    faults = [
        sentence
        for name, sentence in PARTS.items()
        if (values[name] or name in record.parts or name != "lessons")
        and digest(values[name]) != record.parts.get(name)
    ]
    if root_of(record.leaves, record.parts) != record.root:
        faults.append(ROOT)
    if set(record.leaves) != set(record.contents):
        faults.append(ITEMS)
    return faults


def broken_by(secret: bytes, record: Record) -> list[str]:
    """What the published secret contradicts: the study is drawn again and compared with its record."""
    design = Design.of(record.design)
    allocation = draw_again(secret, design, record.arms)
    again = sealed(design, record.plan, record.arms, record.contents, allocation, secret, record.lessons)
    faults = broken(record)
    if again.leaves != record.leaves:
        faults.append(DRAWN)
    if again.seats != record.seats:
        faults.append(ORDERED)
    if again.parts.get("replaced") != record.parts.get("replaced"):
        faults.append(REPLACED)
    return faults
