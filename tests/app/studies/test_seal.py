import hashlib
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import Refused
from app.key import KEY_BYTES, create_key, decrypt, encrypt, load_key, padded
from app.studies.design import Design
from app.studies.draw import draw
from app.studies.seal import (
    Record,
    broken,
    broken_by,
    canonical,
    content_digest,
    item_key,
    leaf,
    merkle_root,
    root_of,
    sealed,
)

SECRET = bytes(range(32))
DESIGN = Design(neurons_per_arm=4, snippets=4, seats=2, overlap=1)
ARMS = [
    {"name": name, "condition": name, "size": 1, "seed": 0, "run_digest": "d" * 64, "offer": ["..d....", "f......"]}
    for name in ("gelu", "solu")
]


def a_record(secret: bytes = SECRET) -> Record:
    allocation = draw(secret, DESIGN, [arm["offer"] for arm in ARMS])  # type: ignore[misc]
    contents = {item.code: content_digest(item.code.encode(), b"wide") for item in allocation.items}
    return sealed(DESIGN, {"alpha": 0.05}, ARMS, contents, allocation, secret)


def test_what_was_sealed_opens_with_its_secret_and_no_other() -> None:
    assert broken(a_record()) == []
    assert broken_by(SECRET, a_record()) == []
    assert broken_by(bytes(32), a_record()) != []


def _changed(record: Record, what: str) -> Record:
    code = sorted(record.leaves)[0]
    changes: dict[str, dict[str, Any]] = {
        "design": {"design": {**record.design, "overlap": 2}},
        "plan": {"plan": {**record.plan, "alpha": 0.1}},
        "arm": {"arms": [{**record.arms[0], "condition": "solu"}, record.arms[1]]},
        "exchanged arms": {"arms": record.arms[::-1]},
        "leaf": {"leaves": record.leaves | {code: "0" * 64}},
        "content": {"contents": record.contents | {code: "0" * 64}},
        "share": {"seats": [{**record.seats[0], "share": 1}, record.seats[1]]},
        "order": {"seats": [{**record.seats[0], "codes": record.seats[0]["codes"][::-1]}, record.seats[1]]},
        "replaced": {"parts": {**record.parts, "replaced": "0" * 64}},
        "root": {"root": "0" * 64},
        "one item fewer": {"leaves": {c: v for c, v in record.leaves.items() if c != code}},
    }
    return replace(record, **changes[what])


@pytest.mark.parametrize(
    "what",
    [
        "design", "plan", "arm", "exchanged arms", "leaf", "content", "share", "order", "replaced", "root",
        "one item fewer",
    ],
)  # fmt: skip
def test_any_change_is_found(what: str) -> None:
    assert broken(_changed(a_record(), what)) != []


def test_a_change_with_every_digest_made_to_fit_is_found_by_the_root() -> None:
    """Whoever changes the plan and its digest still meets the root, and a new root is not the one that was shown."""
    record = a_record()
    forged = sealed(
        DESIGN, {"alpha": 0.1}, ARMS, record.contents, draw(SECRET, DESIGN, [a["offer"] for a in ARMS]), SECRET
    )  # type: ignore[misc]
    assert broken(forged) == []
    assert forged.root != record.root


def test_orders_forged_with_their_digests_are_found_by_the_secret() -> None:
    record = a_record()
    other = a_record(bytes(32))
    parts = record.parts | {"seats": other.parts["seats"]}
    forged = replace(record, seats=other.seats, parts=parts, root=root_of(record.leaves, parts))
    assert broken(forged) == []
    assert "The secret draws other orders than the ones that were sealed." in broken_by(SECRET, forged)


def test_one_item_can_be_opened_alone() -> None:
    """Its key, salt included, gives the leaf; the leaves of the others, which say nothing, give the root."""
    record = a_record()
    item = draw(SECRET, DESIGN, [arm["offer"] for arm in ARMS]).items[0]  # type: ignore[misc]
    alone = leaf(item_key(item))
    assert record.leaves[item.code] == alone
    assert root_of(record.leaves | {item.code: alone}, record.parts) == record.root


def test_a_leaf_cannot_be_guessed_without_its_salt() -> None:
    item = draw(SECRET, DESIGN, [arm["offer"] for arm in ARMS]).items[0]  # type: ignore[misc]
    assert leaf(item_key(item)) != leaf(item_key(item._replace(salt="0" * 64)))


# ---- the tree: values of RFC 6962, section 2.1.1, by hand -----------------------------------------


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def reference_root(leaves: list[bytes]) -> bytes:
    """The definition: split at the largest power of two below the number of leaves."""
    if not leaves:
        return sha()
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    return sha(b"\x01", reference_root(leaves[:split]), reference_root(leaves[split:]))


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=40))
def test_the_root_is_the_one_of_the_definition(leaves: list[bytes]) -> None:
    assert merkle_root([one.hex() for one in leaves]) == reference_root(leaves).hex()


@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=20), st.data())
def test_any_changed_bit_changes_the_root(leaves: list[bytes], data: st.DataObject) -> None:
    at, bit = data.draw(st.integers(0, len(leaves) - 1)), data.draw(st.integers(0, 255))
    changed = leaves.copy()
    changed[at] = (int.from_bytes(leaves[at], "big") ^ (1 << bit)).to_bytes(32, "big")
    assert merkle_root([one.hex() for one in changed]) != merkle_root([one.hex() for one in leaves])


def test_canonical_has_one_spelling() -> None:
    assert canonical({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()
    with pytest.raises(ValueError, match="JSON"):
        canonical(float("nan"))


# ---- the key file -------------------------------------------------------------------------------


def test_a_key_is_made_once_and_only_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "key"
    key = create_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_key(path) == key
    assert len(key) == KEY_BYTES
    with pytest.raises(FileExistsError):
        create_key(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    create_key(tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(Refused, match="chmod 600"):
        load_key(tmp_path / "key")


@pytest.mark.parametrize(("text", "says"), [("zz", "cannot be read"), ("ab", "holds 1 bytes")])
def test_what_is_no_key_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "key"
    path.touch(mode=0o600)
    path.write_text(text)
    with pytest.raises(Refused, match=says):
        load_key(path)
    with pytest.raises(Refused, match="is missing"):
        load_key(tmp_path / "nowhere")


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=300), st.data())
def test_what_is_encrypted_opens_only_whole_in_its_place_and_with_its_key(text: bytes, data: st.DataObject) -> None:
    key, context = b"k" * 32, "item a b"
    closed = encrypt(key, text, context)
    assert decrypt(key, closed, context) == text
    bit = data.draw(st.integers(0, len(closed) * 8 - 1))
    changed = bytearray(closed)
    changed[bit // 8] ^= 1 << bit % 8
    for wrong in ((key, bytes(changed), context), (key, closed, "item a c"), (b"x" * 32, closed, context)):
        with pytest.raises(Refused, match="does not open"):
            decrypt(*wrong)
    assert encrypt(key, text, context) != closed


@given(st.lists(st.binary(max_size=600).filter(lambda text: not text.endswith(b" ")), min_size=1, max_size=8))
def test_padding_gives_one_length_and_loses_nothing(texts: list[bytes]) -> None:
    filled = padded(texts)
    assert len({len(text) for text in filled}) == 1
    assert [text.rstrip(b" ") for text in filled] == texts
