"""Creating the paper's study, 660 items from six run folders, against a plain script that does no more than it must.

The script reads every array of the same folders, decodes the tokens of as many snippets, and inserts the very rows that
ours has written. It draws, renders, shades, pads, seals, encrypts and checks nothing. Both take turns.
"""

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from app.settings import Settings
from app.store.db import open_engine, transaction
from app.store.migrate import upgrade
from app.studies.creating import create_study, new_secret
from app.studies.design import Design
from app.studies.freezing import freeze
from benchmarks.open_neuron import made_info
from benchmarks.outcome import Outcome
from benchmarks.rating_study import WORDS
from model_runner.run.arrays import ROW, UNIT
from model_runner.run.folder import open_run
from model_runner.run.writer import SectionArrays, Vocabulary, write_run

NAME, TARGET, ROUNDS = "create-study", 3.0, 3
SIZES, CONDITIONS = (1_000_000, 5_000_000, 20_000_000), ("gelu", "solu_ln")
LAYERS, HIDDEN, KEPT, WINDOW, PEAK = 4, 512, 20, 256, 120
DESIGN = Design(neurons_per_arm=110, seats=3)
ITEMS = DESIGN.neurons_per_arm * len(SIZES) * len(CONDITIONS)


class Table(NamedTuple):
    """The rows of one table, as they lie in the database."""

    name: str
    columns: int
    rows: list[tuple[Any, ...]]


def measure() -> Outcome:
    """Both up to the commit, and with the folders in the page cache."""
    ours: list[float] = []
    plain: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        runs = [_made_run(Path(folder), condition, size) for condition in CONDITIONS for size in SIZES]
        for number in range(ROUNDS):
            written, copied = Path(folder, f"ours-{number}.db"), Path(folder, f"plain-{number}.db")
            for database in (written, copied):
                upgrade(f"sqlite:///{database}")
            ours.append(_timed_ours(written, Path(folder, "key"), runs))
            tables = _tables(written)
            plain.append(_timed_plain(copied, runs, tables))
            written.unlink()
    ratio = statistics.median(ours) / statistics.median(plain)
    detail = {
        "seconds": round(statistics.median(ours), 2), "plain_seconds": round(statistics.median(plain), 2),
        "items": ITEMS, "rows": sum(len(table.rows) for table in tables), "runs": len(runs),
    }  # fmt: skip
    return Outcome(NAME, round(ratio, 3), TARGET, ratio <= TARGET, detail)


def _timed_ours(database: Path, key: Path, runs: Sequence[Path]) -> float:
    settings = Settings(database_url=f"sqlite:///{database}", key_file=key, _env_file=None)
    engine = open_engine(settings.database_url)
    started = time.perf_counter()
    frozen = freeze(DESIGN, runs, new_secret(), simulated=True)
    with transaction(engine) as session:
        create_study(session, settings, name="Measured", frozen=frozen, actor="Measurer")
    took = time.perf_counter() - started
    engine.dispose()
    return took


def _timed_plain(database: Path, runs: Sequence[Path], tables: Sequence[Table]) -> float:
    started = time.perf_counter()
    texts = [_decoded(run) for run in runs]
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("pragma journal_mode=wal")
        for table in tables:
            connection.executemany(f"insert into {table.name} values ({','.join('?' * table.columns)})", table.rows)  # noqa: S608  # names of ours
    took = time.perf_counter() - started
    assert sum(len(each) for each in texts) == ITEMS * KEPT  # noqa: S101  # nothing was left out
    return took


def _decoded(run: Path) -> list[str]:
    """The text of every snippet of as many neurons as an arm has, a token at a time, from arrays read whole."""
    arrays = {path.stem: np.load(path) for path in sorted(run.glob("*.npy"))}
    pieces, offsets = arrays["token_bytes"].tobytes(), arrays["token_offsets"].tolist()
    rows, tokens = arrays["top.snippets"], arrays["top.tokens"]
    texts = []
    for row in rows[: DESIGN.neurons_per_arm * KEPT]:
        first = int(row["at"]) + PEAK - 80
        ids = tokens[first : first + DESIGN.wide_tokens].tolist()
        texts.append("".join([pieces[offsets[i] : offsets[i + 1]].decode() for i in ids]))
    return texts


def _tables(database: Path) -> list[Table]:
    """All rows that the study is made of, tables that others refer to first."""
    names = ("study", "arm", "item", "item_content", "item_key", "seat", "placement", "event")
    with closing(sqlite3.connect(database)) as connection:
        found = [(name, connection.execute(f"select * from {name}")) for name in names]  # noqa: S608  # names of ours
        return [Table(name, len(rows.description), rows.fetchall()) for name, rows in found]


def _made_run(folder: Path, condition: str, size: int) -> Path:
    """A run folder of noise: words in no order, half of a GELU's activations and a fifth of a SoLU's above zero."""
    rng = np.random.default_rng([size, *condition.encode()])
    units, flat = LAYERS * HIDDEN, LAYERS * HIDDEN * KEPT * WINDOW
    table, rows = np.zeros(units, UNIT), np.zeros(units * KEPT, ROW)
    table["layer"], table["index"], table["snippets"] = *np.divmod(np.arange(units), HIDDEN), KEPT
    rows["at"], rows["length"], rows["peak"] = np.arange(units * KEPT) * WINDOW, WINDOW, PEAK
    rows["document"], rows["value"] = np.arange(units * KEPT), np.tile(np.linspace(2.0, 1.0, KEPT), units)
    activations = rng.random(flat, np.float32) - np.float32(0.5 if condition == "gelu" else 0.8)
    activations[rows["at"] + PEAK] = rows["value"]
    section = SectionArrays(
        offsets=np.arange(units + 1) * KEPT,
        snippets=rows,
        tokens=rng.integers(1, len(WORDS) + 1, flat).astype(np.uint16),
        activations=activations,
        after_norm=activations if condition.endswith("_ln") else None,
    )
    info = replace(
        made_info(units), name=f"{condition}-{size}", condition=condition, size=size, layers=LAYERS, hidden=HIDDEN,
        window=WINDOW, kept=KEPT, activation_point="before_norm" if condition.endswith("_ln") else "only",
    )  # fmt: skip
    run = folder / info.name
    pieces = [b"", *(word.encode() for word in WORDS)]
    offsets = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
    write_run(run, info, table, {"top": section}, Vocabulary(np.frombuffer(b"".join(pieces), np.uint8), offsets))
    return open_run(run).folder
