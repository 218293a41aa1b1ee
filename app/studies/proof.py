"""The way from one leaf of a seal to its root: what lets a single opened item be checked alone. Pure."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from app.studies.seal import Record, merkle_root, ordered_leaves


class Step(NamedTuple):
    """What is hashed together with the way so far."""

    side: Literal["left", "right"]
    """Where it stands."""
    hash: str


def proof_of(record: Record, code: str) -> list[Step]:
    """The way of an item's leaf, from the leaf up: the audit path of RFC 6962, section 2.1.1."""
    return _path(sorted(record.leaves).index(code), ordered_leaves(record.leaves, record.parts))


def _path(at: int, leaves: Sequence[str]) -> list[Step]:
    if len(leaves) == 1:
        return []
    half = 1 << (len(leaves) - 1).bit_length() - 1
    if at < half:
        return [*_path(at, leaves[:half]), Step("right", merkle_root(leaves[half:]))]
    return [*_path(at - half, leaves[half:]), Step("left", merkle_root(leaves[:half]))]


def root_by(leaf: str, path: Sequence[Step]) -> str:
    """The root to which a leaf and its way lead."""
    for side, beside in path:
        leaf = merkle_root([beside, leaf] if side == "left" else [leaf, beside])
    return leaf
