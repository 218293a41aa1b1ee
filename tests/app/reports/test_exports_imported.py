"""Ratings brought back: export, import, export gives the same bytes; what does not fit is refused, whole."""

import csv
import io
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app import clock
from app.errors import AppError, Conflict, Invalid
from app.log import first_broken_line
from app.models import Assignment, Event, Rater, Rating, RatingAction, Seat, Sitting, Study, StudyState, Verdict
from app.rating.actions import edit
from app.reports.actions import Imported, import_ratings
from app.reports.exports import files
from app.settings import Settings
from tests.app.rated import make_rater
from tests.app.reports.test_exports import AWKWARD
from tests.app.seated import Hand, join
from tests.studies import make_study

TABLES = ("raters", "sittings", "ratings")
FORMATS = ("csv", "parquet", "json")


@pytest.fixture
def study(session: Session, settings: Settings) -> Study:
    """Two raters gave, edited and took back verdicts, with every kind of text."""
    study = make_study(session, settings, overlap=2)
    chance, texts = random.Random(3), iter(AWKWARD * 9)
    for name in ("Kim", "=Lou, “x”"):
        hand = Hand(session, settings, join(session, study, name))
        hand.begin()
        for _ in range(4):
            hand.give(chance.choice(list(Verdict)), next(texts))
        hand.undo()
        last = session.scalars(
            select(Assignment).join(Rating).where(Assignment.rater_id == hand.rater.id).order_by(Assignment.position)
        ).first()
        assert last is not None
        edit(session, settings, hand.locked, last.code, 1, Verdict.CANNOT_DECIDE, next(texts), f"edit-{name}")
    return study


def exported(session: Session, study: Study, folder: Path) -> dict[str, bytes]:
    """What the study gives out once it is closed, written to the folder too."""
    study.state, study.closed_at = StudyState.CLOSED, clock.now()
    session.flush()
    found = {file.name: file.content for file in files(session, study)}
    for name, content in found.items():
        (folder / name).write_bytes(content)
    study.state, study.closed_at = StudyState.OPEN, None
    session.flush()
    return {name: found[name] for name in found if name.split(".")[0] in TABLES}


def forget(session: Session, study: Study) -> None:
    """The study as it was before anybody came."""
    for seat in session.scalars(select(Seat).where(Seat.study_id == study.id)):
        seat.rater_id = None
    session.flush()
    session.execute(delete(Rater).where(Rater.study_id == study.id))
    session.expire_all()


def keep(folder: Path, form: str) -> None:
    for file in folder.iterdir():
        if file.suffix != f".{form}":
            file.unlink()


@pytest.mark.parametrize("form", FORMATS)
def test_export_import_export_gives_the_same_bytes(session: Session, study: Study, tmp_path: Path, form: str) -> None:
    before = exported(session, study, tmp_path)
    forget(session, study)
    keep(tmp_path, form)
    found = import_ratings(session, study, tmp_path, "Ada")
    # A verdict that was taken back and an edit are two versions each.
    assert found == Imported(2, 2, 12)
    assert exported(session, study, tmp_path) == before
    assert session.scalar(select(func.count(Seat.id)).where(Seat.rater_id.is_not(None))) == 2


def test_the_same_import_twice_changes_nothing(session: Session, study: Study, tmp_path: Path) -> None:
    before = exported(session, study, tmp_path)
    assert import_ratings(session, study, tmp_path, "Ada") == Imported(0, 0, 0)
    assert exported(session, study, tmp_path) == before
    assert "ratings imported" not in session.scalars(select(Event.what)).all()


def test_an_import_is_in_the_log(session: Session, study: Study, tmp_path: Path) -> None:
    exported(session, study, tmp_path)
    forget(session, study)
    import_ratings(session, study, tmp_path, "Ada")
    events = session.scalars(select(Event).where(Event.study_id == study.id).order_by(Event.line)).all()
    assert (events[-1].what, events[-1].actor, events[-1].detail["ratings"]) == ("ratings imported", "Ada", 12)
    assert first_broken_line(events) is None


Change = Callable[[list[dict[str, str]]], object]


def changed(folder: Path, table: str, change: Change) -> None:
    """Change the rows of a table of the export, which is in CSV alone."""
    path = folder / f"{table}.csv"
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


BAD: list[tuple[str, Change, str]] = [
    ("ratings", lambda rows: rows[0].update(verdict="YES"), "'YES' is none of"),
    ("ratings", lambda rows: rows[-1].update(item="unknown", version="1"), "no item unknown"),
    ("ratings", lambda rows: rows[-1].update(rater="unknown", version="1"), "no rater unknown"),
    ("ratings", lambda rows: rows[0].update(sitting="unknown"), "no sitting unknown"),
    ("ratings", lambda rows: rows[0].update(seconds="soon"), "row 1: the column “seconds” holds 'soon'"),
    ("ratings", lambda rows: rows[0].update(at="2031-03-01T09:30:00"), "which is no time"),
    ("ratings", lambda rows: rows[0].update(late="perhaps"), "which is no yes_no"),
    ("ratings", lambda rows: rows[0].update(version="7"), "without a gap"),
    ("ratings", lambda rows: rows[0].update(position=""), "“position” is empty"),
    ("ratings", lambda rows: [row.pop("item") for row in rows], "“item” is missing"),
    ("raters", lambda rows: rows[0].update(seat="99"), "no such seat"),
    ("raters", lambda rows: rows[1].update(seat=rows[0]["seat"]), "somebody else sits there"),
    ("raters", lambda rows: rows[1].update(name=rows[0]["name"]), "another rater named"),
    ("raters", lambda rows: rows[0].update(kind="martian"), "'martian' is none of"),
    ("sittings", lambda rows: rows[0].update(rater="unknown"), "no rater unknown"),
]


@pytest.mark.parametrize(("table", "change", "sentence"), BAD)
def test_what_does_not_fit_is_refused_whole(
    session: Session, study: Study, tmp_path: Path, table: str, change: Change, sentence: str
) -> None:
    exported(session, study, tmp_path)
    forget(session, study)
    keep(tmp_path, "csv")
    changed(tmp_path, table, change)
    with pytest.raises(AppError, match=sentence), session.begin_nested():
        import_ratings(session, study, tmp_path, "Ada")
    counts = [session.scalar(select(func.count(table.id))) for table in (Rater, Sitting, Rating, Assignment)]
    assert counts == [0, 0, 0, 0]


def test_other_verdicts_on_the_same_item_are_a_conflict(session: Session, study: Study, tmp_path: Path) -> None:
    exported(session, study, tmp_path)
    rating = session.scalars(select(Rating).where(Rating.action == RatingAction.GIVEN)).first()
    assert rating is not None
    rating.hypothesis = "another"
    session.flush()
    with pytest.raises(Conflict, match="has other verdicts on item"):
        import_ratings(session, study, tmp_path, "Ada")


def test_more_verdicts_than_an_item_was_to_have_are_refused(session: Session, study: Study, tmp_path: Path) -> None:
    exported(session, study, tmp_path)
    forget(session, study)
    keep(tmp_path, "csv")
    single = {row["item"] for row in json_items(session, study) if row["capacity"] == 1}

    def onto_one(rows: list[dict[str, str]]) -> None:
        mine = [next(row for row in rows if row["rater"] == rater and row["item"] in single and row["current"] == "true"
                     and row["version"] == "1") for rater in sorted({row["rater"] for row in rows})]  # fmt: skip
        rows[:] = mine
        mine[1]["item"] = mine[0]["item"]

    changed(tmp_path, "ratings", onto_one)
    with pytest.raises(Conflict, match="would have 2 verdicts, and it was to have 1"):
        import_ratings(session, study, tmp_path, "Ada")


def json_items(session: Session, study: Study) -> list[dict[str, object]]:
    from app.reports.exports import export

    study.state = StudyState.CLOSED
    rows: list[dict[str, object]] = json.loads(export(session, study, "items", "json").content)["rows"]
    study.state = StudyState.OPEN
    return rows


@pytest.mark.parametrize("state", [StudyState.CLOSED, StudyState.UNBLINDED])
def test_only_an_open_study_takes_ratings(session: Session, study: Study, tmp_path: Path, state: StudyState) -> None:
    exported(session, study, tmp_path)
    study.state = state
    with pytest.raises(Conflict, match="only while it is open"):
        import_ratings(session, study, tmp_path, "Ada")


@pytest.mark.parametrize("content", [b"", b"{", b'{"rows": 3}', b"\xff\xfe", b"[]"])
def test_a_damaged_file_is_a_sentence(session: Session, study: Study, tmp_path: Path, content: bytes) -> None:
    for name in TABLES:
        (tmp_path / f"{name}.json").write_bytes(content)
    with pytest.raises(Invalid, match=r"was not understood|row 1"):
        import_ratings(session, study, tmp_path, "Ada")


@pytest.mark.parametrize(("column", "value"), [("position", 1.7), ("position", True), ("seconds", float("nan"))])
def test_a_number_that_is_none_is_a_sentence(
    session: Session, study: Study, tmp_path: Path, column: str, value: object
) -> None:
    exported(session, study, tmp_path)
    keep(tmp_path, "json")
    path = tmp_path / "ratings.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    table["rows"][0][column] = value
    path.write_text(json.dumps(table), encoding="utf-8")
    with pytest.raises(Invalid, match=f"row 1: the column “{column}” holds"):
        import_ratings(session, study, tmp_path, "Ada")


def test_a_folder_without_tables_is_a_sentence(session: Session, study: Study, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="There is no table “raters”"):
        import_ratings(session, study, tmp_path, "Ada")
    with pytest.raises(Invalid, match="neither a folder nor an archive"):
        import_ratings(session, study, tmp_path / "nothing.zip", "Ada")


def test_somebody_else_on_the_seat_keeps_it(session: Session, study: Study, tmp_path: Path) -> None:
    exported(session, study, tmp_path)
    forget(session, study)
    seat = session.scalars(select(Seat).where(Seat.study_id == study.id, Seat.number == 1)).one()
    other = make_rater(session, study, 9)
    session.execute(delete(Seat).where(Seat.rater_id == other.id))
    seat.rater_id = other.id
    session.flush()
    with pytest.raises(Conflict, match="somebody else sits there"):
        import_ratings(session, study, tmp_path, "Ada")
