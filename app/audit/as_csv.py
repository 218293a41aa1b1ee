"""The audit as a table that no spreadsheet runs."""

import csv
import io
from collections.abc import Iterable

from app.audit.queries import Line
from app.reports.formats import moment, neutral

HEADER = ("at", "actor", "act", "about", "study", "study_code", "detail")


def as_csv(lines: Iterable[Line]) -> bytes:
    """UTF-8 with one line an act, the newest first."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(HEADER)
    for line in lines:
        detail = "; ".join(f"{one.key}: {one.value}" for one in line.said)
        texts = (line.actor, line.what, line.about, line.study, line.study_code, detail)
        writer.writerow([moment(line.at), *map(neutral, texts)])
    return out.getvalue().encode()
