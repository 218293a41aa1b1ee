"""Checking an exported study without its database: files in, sentences out."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from app.errors import AppError, Invalid
from app.log import FIRST, line_hash
from app.studies.proof import Step, root_by
from app.studies.seal import Record, broken, broken_by, digest, leaf

SEAL, EVENTS = "seal.json", "events.json"


@dataclass
class Verified:
    """What was found, a sentence each."""

    good: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def add(self, more: "Verified") -> None:
        self.good += more.good
        self.faults += more.faults

    def note(self, what: str, faults: list[str]) -> None:
        self.faults += faults
        if not faults:
            self.good.append(what)


def verify_export(path: Path) -> Verified:
    """Check the seal and the log of an export: a folder, a zip, or seal.json alone; or one item that was opened early.

    Raises Invalid if there is neither, or what there is cannot be understood.
    """
    files = _read(path)
    try:
        return _verified(files[SEAL], files.get(EVENTS))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Invalid(f"{path} was not understood as an export: {error!r}. Export the study again.") from None


def _verified(seal: dict[str, Any], events: dict[str, Any] | None) -> Verified:
    found = Verified()
    if "path" in seal:
        return _one_item(seal, found)
    if "record" not in seal:
        found.good.append(f"The study is still blind; its seal is {seal['root']}.")
        found.good.append("What was sealed can be checked once it is unblinded.")
        return found
    record = _record(seal["record"])
    found.note(f"Leaves, digests and root fit together: {record.root}", broken(record))
    found.note("The seal is the one that was shown", _same(seal["root"], record.root, "seal"))
    found.note("The published secret draws this allocation and no other", _redrawn(seal["secret"], record))
    found.note("The plan is the one that was fixed", _same(seal["plan_digest"], digest(record.plan), "plan"))
    found.note(f"{len(seal['items'])} items are what their leaves say", _items(seal["items"], seal["secret"], record))
    lines = events["rows"] if events is not None else None
    if amended := seal.get("amendments", []):
        found.note(f"The plan was amended, {len(amended)} times", _amended(amended, lines))
    if opened := seal.get("opened_early", []):
        found.note(f"{len(opened)} items were opened early, and are what was sealed", _early(opened, record, lines))
    if lines is not None:
        found.note("No amendment and no early opening is kept back", _kept_back(seal, lines))
        found.note(f"The log is whole: {len(lines)} lines", broken_log(lines, seal["log"]["head"]))
        found.note("The log begins with this seal", _sealed_first(lines, record.root))
    return found


def broken_log(lines: list[dict[str, Any]], head: str) -> list[str]:
    """The first line of an exported log that does not follow from the one before."""
    previous = FIRST
    for number, line in enumerate(lines, start=1):
        detail = json.loads(line["detail"])
        right = line_hash(previous, number, datetime.fromisoformat(line["at"]), line["actor"], line["what"], detail)
        if (line["line"], line["previous"], line["hash"]) != (number, previous, right):
            return [f"Line {number} of the log does not follow from the one before."]
        previous = right
    return [] if previous == head else [f"The log ends with {previous[:8]}…, and the seal's file says {head[:8]}…."]


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        files = _texts(path)
        if SEAL not in files:
            raise Invalid(f"There is no {SEAL} in {path}. Give the folder, the .zip or the {SEAL} of an export.")
        return {name: json.loads(text) for name, text in files.items()}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise Invalid(f"{path} cannot be read as an export: {error}.") from None


def _texts(path: Path) -> Mapping[str, bytes]:
    if path.is_dir():
        return {name: (path / name).read_bytes() for name in (SEAL, EVENTS) if (path / name).is_file()}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return {
                Path(name).name: archive.read(name) for name in archive.namelist() if Path(name).name in (SEAL, EVENTS)
            }
    return {SEAL: path.read_bytes()}


def _record(values: dict[str, Any]) -> Record:
    try:
        return Record(**values)
    except TypeError as error:
        raise Invalid(f"The record of the seal was not understood: {error}.") from None


def _redrawn(secret: str, record: Record) -> list[str]:
    try:
        known = set(broken(record))
        return [fault for fault in broken_by(bytes.fromhex(secret), record) if fault not in known]
    except (AppError, ValueError, LookupError, TypeError) as error:
        return [f"Nothing can be drawn from this secret and this record: {error}"]


def _same(shown: str, computed: str, what: str) -> list[str]:
    return [] if shown == computed else [f"The {what} shown is {shown}, and what is sealed gives {computed}."]


def _items(items: list[dict[str, Any]], secret: str, record: Record) -> list[str]:
    """Whether what the export says of each item is what the secret draws."""
    from app.studies.design import Design
    from app.studies.whole_draw import draw_again

    names = [arm["name"] for arm in record.arms]
    drawn = {
        item.code: (names[item.unit.arm], item.unit.kind, item.unit.layer, item.unit.number, item.salt)
        for item in draw_again(bytes.fromhex(secret), Design.of(record.design), record.arms).items
    }
    said = {i["code"]: (i["arm"], i["unit_kind"], i["layer"], i["index"], i["salt"]) for i in items}
    wrong = sorted(code for code in {*drawn, *said} if drawn.get(code) != said.get(code))
    return [f"Item {code} is not what was drawn." for code in wrong[:5]]


def _one_item(opened: dict[str, Any], found: Verified) -> Verified:
    """An item that was opened early, without the rest: its leaf, and the way from there to the seal."""
    try:
        code, its_leaf = str(opened["item"]["code"]), leaf(opened["item"])
        path = [Step(step["side"], step["hash"]) for step in opened["path"]]
        wrong = [] if its_leaf == opened["leaf"] else [f"Item {code} is not what its leaf says."]
        found.note(f"Item {code} is what its leaf says", wrong)
        root = root_by(its_leaf, path)
        missed = (
            [] if root == opened["root"] else [f"The leaf leads to {root}, and the seal shown is {opened['root']}."]
        )
        found.note(f"The leaf leads to the seal {opened['root']}", missed)
    except (KeyError, TypeError, ValueError) as error:
        raise Invalid(f"The opened item was not understood: {error}.") from None
    if not found.faults:
        found.good.append("Compare this seal with the one that you were shown.")
    return found


def _logged(lines: list[dict[str, Any]], what: str) -> list[dict[str, Any]]:
    return [json.loads(line["detail"]) for line in lines if line["what"] == what]


def _amended(amended: list[dict[str, Any]], lines: list[dict[str, Any]] | None) -> list[str]:
    """Amendments whose plan is not what their digest says, or not what the log says."""
    logged = {detail["number"]: detail["plan"] for detail in _logged(lines or [], "plan amended")}
    faults = []
    for one in amended:
        found = digest(one["plan"])
        if found != one["plan_digest"] or (lines is not None and logged.get(one["number"]) != found):
            faults.append(f"Amendment {one['number']} is not the one that was written down.")
    return faults


def _early(opened: list[dict[str, Any]], record: Record, lines: list[dict[str, Any]] | None) -> list[str]:
    """Items opened early whose leaf is not the sealed one, or not the one in the log."""
    logged = {detail["item"]: detail["leaf"] for detail in _logged(lines or [], "item opened early")}
    faults = []
    for one in opened:
        code, its_leaf = one["item"]["code"], leaf(one["item"])
        if record.leaves.get(code) != its_leaf or (lines is not None and logged.get(code) != its_leaf):
            faults.append(f"Item {code}, opened early, is not what was sealed.")
    return faults


def _kept_back(seal: dict[str, Any], lines: list[dict[str, Any]]) -> list[str]:
    told = {one["number"] for one in seal.get("amendments", [])}
    opened = {one["item"]["code"] for one in seal.get("opened_early", [])}
    amendments = [d["number"] for d in _logged(lines, "plan amended") if d["number"] not in told]
    items = [d["item"] for d in _logged(lines, "item opened early") if d["item"] not in opened]
    return [
        *(f"The log has an amendment {number}, and the export does not." for number in amendments),
        *(f"The log says that item {code} was opened early, and the export does not." for code in items),
    ]


def _sealed_first(lines: list[dict[str, Any]], root: str) -> list[str]:
    first = json.loads(lines[0]["detail"]) if lines else {}
    return [] if first.get("seal") == root else ["The first line of the log carries another seal."]
