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
from app.studies.seal import Record, broken, broken_by, digest

SEAL, EVENTS = "seal.json", "events.json"


@dataclass
class Verified:
    """What was found, a sentence each."""

    good: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def note(self, what: str, faults: list[str]) -> None:
        self.faults += faults
        if not faults:
            self.good.append(what)


def verify_export(path: Path) -> Verified:
    """Check the seal and the log of an export: a folder, a zip, or seal.json alone. Raises Invalid if there is none."""
    files = _read(path)
    seal = files[SEAL]
    found = Verified()
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
    if EVENTS in files:
        lines = files[EVENTS]["rows"]
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
    from app.studies.draw import draw

    names = [arm["name"] for arm in record.arms]
    drawn = {
        item.code: (names[item.unit.arm], item.unit.kind, item.unit.layer, item.unit.number, item.salt)
        for item in draw(bytes.fromhex(secret), Design.of(record.design), [arm["offer"] for arm in record.arms]).items
    }
    said = {i["code"]: (i["arm"], i["unit_kind"], i["layer"], i["index"], i["salt"]) for i in items}
    wrong = sorted(code for code in {*drawn, *said} if drawn.get(code) != said.get(code))
    return [f"Item {code} is not what was drawn." for code in wrong[:5]]


def _sealed_first(lines: list[dict[str, Any]], root: str) -> list[str]:
    first = json.loads(lines[0]["detail"]) if lines else {}
    return [] if first.get("seal") == root else ["The first line of the log carries another seal."]
