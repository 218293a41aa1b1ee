"""What leaves a study: every row, unharmed, and nothing before its time."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from app.errors import NotFound, Refused
from app.models import Assignment, Item, ItemKind, Rater, Rating, Sitting, StudyState
from app.reports.exports import (
    FORMATS,
    attachment,
    empty_tables,
    export,
    file_name,
    files,
    overview,
    plain_name,
    zipped,
)
from app.reports.formats import neutral, original, to_csv
from app.reports.rows import READERS
from app.reports.table import CLOSED, OPEN, Column, Table
from app.reports.tables import TABLES, markdown
from tests.app.rated import (
    blank_study,
    counted_unlike_read,
    make_assignment,
    make_item,
    make_rater,
    make_rating,
    rated_study,
)

AWKWARD = [
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "'=1", "''@x", "'quoted'", 'say "no", twice',
    "first line\nsecond; line\r\nthird", "🙂 研究 Ünïcödé", "<img src=x onerror=alert(1)>", " leading space", "NA", "",
]  # fmt: skip
TEXTS = Table("ratings", "", OPEN, (Column("text", "text", ""), Column("n", "whole", "")))


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@given(st.lists(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))))
def test_any_text_comes_back_from_csv_and_none_is_a_formula(texts: list[str]) -> None:
    rows = read(to_csv(TEXTS, [(text, -1) for text in texts]))
    assert [original(row["text"]) for row in rows] == texts
    assert not [row["text"] for row in rows if row["text"][:1] in tuple("=+-@\t\r\n＝＋－＠")]
    assert {row["n"] for row in rows} <= {"-1"}


@pytest.mark.parametrize("text", AWKWARD)
def test_neutral_is_undone_by_original(text: str) -> None:
    assert original(neutral(text)) == text


def test_hypotheses_survive_every_format_as_pandas_reads_them(session: Session) -> None:
    rated = rated_study(session, [["I"] * len(AWKWARD), []], raters=1)
    ratings = session.scalars(select(Rating).order_by(Rating.id)).all()
    for rating, text in zip(ratings, AWKWARD, strict=True):
        rating.hypothesis = text
    session.flush()
    content = {form: export(session, rated.study, "ratings", form).content for form in FORMATS}
    from_csv = pd.read_csv(io.BytesIO(content["csv"]), keep_default_na=False).sort_values("position")
    from_parquet = pd.read_parquet(io.BytesIO(content["parquet"])).sort_values("position")
    from_json = pd.DataFrame(json.loads(content["json"])["rows"]).sort_values("position")
    assert [original(text) for text in from_csv["hypothesis"]] == AWKWARD
    assert list(from_parquet["hypothesis"]) == AWKWARD
    assert list(from_json["hypothesis"]) == AWKWARD
    assert list(from_csv["seconds"]) == list(from_parquet["seconds"]) == [rating.seconds for rating in ratings]
    assert [pd.Timestamp(at) for at in from_csv["at"]] == list(from_parquet["at"]) == [r.at for r in ratings]


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "UTC"])
def test_times_are_utc_with_their_offset(session: Session, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    rated = rated_study(session)
    rows = read(export(session, rated.study, "sittings", "csv").content)
    started = [datetime.fromisoformat(row["started_at"]) for row in rows]
    assert started == [sitting.started_at for sitting in rated.sittings]
    assert {at.utcoffset() for at in started} == {timedelta(0)}


Rolled = Callable[[], AbstractContextManager[Session]]


@pytest.fixture(scope="session")
def rolled_back(engine: Engine) -> Rolled:
    """A session for each example, whose every change is undone."""

    @contextmanager
    def fresh() -> Iterator[Session]:
        with engine.connect() as connection, connection.begin() as transaction:
            with Session(connection, join_transaction_mode="create_savepoint", expire_on_commit=False) as session:
                yield session
            transaction.rollback()

    return fresh


MIXES = st.lists(
    st.tuples(
        st.sampled_from(["given", "edited", "withdrawn", "given again", "held", "late"]),
        st.sampled_from([ItemKind.NEURON, ItemKind.MIXED, ItemKind.PRACTICE]),
        st.integers(0, 2),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=25)
@given(mix=MIXES, state=st.sampled_from([StudyState.CLOSED, StudyState.UNBLINDED]))
def test_rows_exported_are_rows_in_the_database(
    rolled_back: Rolled, mix: list[tuple[str, ItemKind, int]], state: StudyState
) -> None:
    with rolled_back() as session:
        rated = rated_study(session, [[], []], raters=3, state=state)
        for position, (what, kind, who) in enumerate(mix, start=1):
            item = make_item(session, rated.study, rated.arms[position % 2], position, kind=kind)
            versions = {"edited": "IN", "withdrawn": "IW", "given again": "IWN", "held": ""}.get(what, "C")
            give(session, rated.raters[who], item, position, versions, late=what == "late")
        found = {form: export(session, rated.study, "ratings", form) for form in FORMATS}
        in_database = session.scalar(select(func.count(Rating.id)))
        keys = {(row["rater"], row["item"], row["version"]) for row in read(found["csv"].content)}
        assert len(keys) == in_database == found["csv"].rows
        assert len(pd.read_parquet(io.BytesIO(found["parquet"].content))) == in_database
        standing = [row for row in read(found["csv"].content) if row["current"] == "true"]
        assert len(standing) == sum(what not in ("withdrawn", "held") for what, _, _ in mix)


def give(session: Session, rater: Rater, item: Item, position: int, versions: str, *, late: bool) -> None:
    assignment = make_assignment(session, item, rater, position)
    for version, letter in enumerate(versions, start=1):
        make_rating(session, assignment, None, letter, version, late=late)


@pytest.mark.parametrize("name", sorted(set(TABLES) - {"progress"}))
def test_an_open_study_gives_out_progress_alone(session: Session, name: str) -> None:
    rated = rated_study(session, state=StudyState.OPEN)
    with pytest.raises(Refused, match="once the study is"):
        export(session, rated.study, name, "csv")
    rows = read(export(session, rated.study, "progress", "csv").content)
    assert [row["done"] for row in rows] == ["4", "4"]
    assert {part.name for part in files(session, rated.study)} == {
        f"{table}.{form}" for table in ("progress", "dictionary") for form in FORMATS
    } | {"seal.json"}


def test_a_closed_study_gives_out_no_arm(session: Session) -> None:
    rated = rated_study(session, state=StudyState.CLOSED)
    for part in files(session, rated.study):
        for trace in ("gelu", "solu", rated.arms[0].run_digest, "5e" * 32):
            assert trace.encode() not in part.content.lower(), f"{part.name} says {trace}"
    for name in ("arms", "placements", "events"):
        with pytest.raises(Refused, match="unblinded"):
            export(session, rated.study, name, "json")
    assert "arm" not in {column.name for column in TABLES["ratings"].seen_in(CLOSED, {}).columns}


def test_an_unblinded_study_says_which_neuron_each_verdict_is_about(session: Session) -> None:
    rated = rated_study(session, ["IN", "I"], raters=2)
    rows = read(export(session, rated.study, "ratings", "csv").content)
    assert sorted((row["arm"], row["neuron"], row["verdict"]) for row in rows) == [
        ("gelu-0", "0", "INTERPRETABLE"), ("gelu-0", "1", "NOT_INTERPRETABLE"), ("solu_ln-1", "0", "INTERPRETABLE"),
    ]  # fmt: skip
    seal = json.loads(next(part.content for part in files(session, rated.study) if part.name == "seal.json"))
    assert seal["secret"] == "5e" * 32
    assert set(seal["record"]) == {"design", "plan", "arms", "leaves", "contents", "seats", "parts", "root"}
    assert seal["record"]["seats"][0]["codes"] == [rated.items[0].code, rated.items[2].code]


def test_another_studys_rows_stay_out(session: Session) -> None:
    one, two = rated_study(session, name="one"), rated_study(session, ["IIIII", "N"], name="two")
    assert [export(session, rated.study, "ratings", "csv").rows for rated in (one, two)] == [8, 6]
    assert [export(session, rated.study, "events", "csv").rows for rated in (one, two)] == [1, 1]
    assert [counted_unlike_read(session, rated.study) for rated in (one, two)] == [[], []]


def test_the_page_of_downloads_counts_rows_in_the_database(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    rated = rated_study(session)
    for name in list(READERS):
        monkeypatch.delitem(READERS, name)
    rows = {given.table.name: given.rows for given in overview(session, rated.study)}
    assert (rows["ratings"], rows["raters"], rows["items"], rows["arms"], rows["machine_calls"]) == (8, 2, 8, 2, 0)


def test_an_empty_table_is_a_header_and_a_warning(session: Session) -> None:
    study = blank_study(session, state=StudyState.CLOSED)
    found = export(session, study, "ratings", "csv")
    assert found.content.decode().startswith('"item","rater"')
    assert found.rows == 0
    assert "no rows" in found.warning
    assert "no rows" in json.loads(export(session, study, "ratings", "json").content)["warning"]
    assert pd.read_parquet(io.BytesIO(export(session, study, "ratings", "parquet").content)).empty
    assert len(empty_tables(session, study)) == 5


def test_a_deactivated_raters_verdicts_stay(session: Session) -> None:
    rated = rated_study(session)
    rated.raters[0].deactivated_at = rated.raters[0].created_at
    session.flush()
    assert export(session, rated.study, "ratings", "csv").rows == 8
    rows = read(export(session, rated.study, "raters", "csv").content)
    assert [(row["letter"], row["verdicts"], bool(row["deactivated_at"])) for row in rows] == [
        ("A", "4", True), ("B", "4", False),
    ]  # fmt: skip


def test_an_unknown_table_is_not_found(session: Session) -> None:
    with pytest.raises(NotFound):
        export(session, blank_study(session), "secrets", "csv")


def test_a_study_of_any_name_has_a_name_for_its_download(session: Session) -> None:
    study = blank_study(session, 'Ünïcödé 研究 / "x"')
    name = file_name(study, "ratings.csv")
    assert name == "Ünïcödé 研究 - -x ratings.csv"
    header = attachment(name)["content-disposition"]
    assert header.isascii()
    assert "filename*=UTF-8''%C3%9Cn" in header
    assert header.count('"') == 2
    assert 'filename="Unicode-x-ratings.csv"' in header


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Winter study ratings.csv", "Winter-study-ratings.csv"),
        ("研究 ratings.csv", "study-ratings.csv"),
        ("Übung -- 2 / b report.pdf", "Ubung-2-b-report.pdf"),
        ("ﬁne… export.zip", "fine-export.zip"),
        ("... seal.json", "study-seal.json"),
    ],
)
def test_a_name_for_what_reads_only_ascii(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_the_same_export_is_the_same_bytes(session: Session) -> None:
    rated = rated_study(session)
    assert zipped(files(session, rated.study), "x") == zipped(files(session, rated.study), "x")


def test_progress_counts_what_stands(session: Session) -> None:
    study = blank_study(session)
    make_rater(session, study, 1)
    row = read(export(session, study, "progress", "csv").content)[0]
    assert (row["done"], row["sittings"], row["active_seconds"], row["last_seen_at"]) == ("0", "0", "0.0", "")


def test_every_model_column_of_a_rating_is_exported_or_named_here() -> None:
    left_out = {"id", "assignment_id", "idempotency_key", "sitting_id"}
    exported = {column.name for column in TABLES["ratings"].columns}
    assert {column.name for column in Rating.__table__.columns} - left_out <= exported
    assert {column.name for column in Sitting.__table__.columns} - {"id", "code", "rater_id"} <= {
        column.name for column in TABLES["sittings"].columns
    }
    assert "position" in {column.name for column in Assignment.__table__.columns}


def test_the_documentation_holds_the_data_dictionary() -> None:
    text = (Path(__file__).parents[3] / "docs" / "exports.md").read_text(encoding="utf-8")
    printed = text.split("<!-- begin: app/reports/tables.py -->")[1].split("<!-- end -->")[0]
    assert printed.strip() == markdown()
