"""The tables of an export and what their columns mean: the data dictionary. Pure."""

from collections.abc import Mapping
from typing import Any

from app.models import StudyState
from app.reports.table import CLOSED, OPEN, ORDER, UNBLINDED, Column, Table, asked_for, reached

PHASED = ("practice_items", "check_snippets", "guesses")

PROGRESS = Table(
    "progress",
    "How far each rater is. A row is a rater. The only table while the study is open; it says nothing about verdicts.",
    OPEN,
    (
        Column("rater", "text", "The rater's random code."),
        Column("name", "text", "What the administrator calls the rater."),
        Column("kind", "text", "human, machine or simulated."),
        Column("done", "whole", "Items with a verdict that stands."),
        Column("share", "whole", "Items that are the rater's to rate; empty once they chose to go on beyond it."),
        Column("sittings", "whole", "How many times the rater sat down."),
        Column("active_seconds", "number", "Active time of all sittings together, in seconds."),
        Column("last_seen_at", "time", "The last sign of life; empty if the rater never began."),
    ),
)

RATINGS = Table(
    "ratings",
    "Every version of every verdict. A row is a version: given, edited or withdrawn.",
    CLOSED,
    (
        Column("item", "text", "The item's code, the same for every rater and in every table."),
        Column("rater", "text", "The rater's code."),
        Column("rater_kind", "text", "human, machine or simulated."),
        Column("position", "whole", "The how-manieth item of this rater it was, from 1."),
        Column("version", "whole", "Version of this rater's verdict on this item, from 1."),
        Column("current", "yes_no", "This is the last version, and it was not a withdrawal: the one that counts."),
        Column("action", "text", "given, edited or withdrawn."),
        Column("verdict", "text", "INTERPRETABLE, NOT_INTERPRETABLE or CANNOT_DECIDE; empty in a withdrawal."),
        Column("hypothesis", "text", "What the rater thought the neuron responds to; may be empty."),
        Column("at", "time", "When the server took it."),
        Column("seconds", "number", "Server time between showing the item and this version, in seconds."),
        Column("sitting", "text", "The sitting's code; empty when it is not known."),
        Column("lined_up", "yes_no", "The snippets were lined up on their peaks."),
        Column("widened", "yes_no", "The snippets were widened."),
        Column("late", "yes_no", "Given after the lease on the item had run out."),
        Column("surplus", "yes_no", "Beyond the planned number of verdicts for the item."),
        Column("kind", "text", "The item's kind: neuron, mixed, direction, repeat, practice or check.", UNBLINDED),
        Column("arm", "text", "The arm's name.", UNBLINDED),
        Column("condition", "text", "The arm's condition, such as gelu or solu_ln.", UNBLINDED),
        Column("size", "whole", "Parameters of the arm's model, embedding and unembedding aside.", UNBLINDED),
        Column("layer", "whole", "The neuron's layer, from 0.", UNBLINDED),
        Column("neuron", "whole", "The neuron's number in its layer, from 0.", UNBLINDED),
    ),
)

ITEMS = Table(
    "items",
    "Every item of the study, rated or not. A row is an item.",
    CLOSED,
    (
        Column("item", "text", "The item's code."),
        Column("capacity", "whole", "How many raters were to rate it."),
        Column("verdicts", "whole", "How many verdicts on it stand."),
        Column("kind", "text", "neuron, mixed, direction, repeat, practice or check.", UNBLINDED),
        Column("phase", "text", "practice, rating or check.", UNBLINDED),
        Column("repeat_of", "text", "For a repeat, the code of the item it repeats; else empty.", UNBLINDED),
        Column("arm", "text", "The arm's name.", UNBLINDED),
        Column("condition", "text", "The arm's condition.", UNBLINDED),
        Column("size", "whole", "Parameters of the arm's model, embedding and unembedding aside.", UNBLINDED),
        Column("model_seed", "whole", "Training seed of the arm's model; 0 where nobody said.", UNBLINDED),
        Column("unit_kind", "text", "neuron or direction.", UNBLINDED),
        Column("layer", "whole", "The unit's layer, from 0.", UNBLINDED),
        Column("neuron", "whole", "The unit's number in its layer, from 0.", UNBLINDED),
        Column("content_digest", "text", "SHA-256 of what raters were sent for the item.", UNBLINDED),
        Column("salt", "text", "The salt of the item's leaf in the seal.", UNBLINDED),
        Column("leaf", "text", "The item's leaf in the seal.", UNBLINDED),
    ),
)

RATERS = Table(
    "raters",
    "Everybody who took up an invitation. A row is a rater.",
    CLOSED,
    (
        Column("rater", "text", "The rater's code."),
        Column("letter", "text", "The letter that stands for the rater in the report."),
        Column("name", "text", "What the administrator calls the rater."),
        Column("kind", "text", "human, machine or simulated."),
        Column("seat", "whole", "The number of the rater's seat; empty without one."),
        Column("share", "whole", "Items that were the rater's to rate; empty once they chose to go on beyond it."),
        Column("verdicts", "whole", "Verdicts of the rater that stand."),
        Column("created_at", "time", "When the link was first taken up."),
        Column("consented_at", "time", "When the rater consented."),
        Column("trained_at", "time", "When practice was finished; empty without practice."),
        Column("finished_at", "time", "When the rater's share was done; empty if it never was."),
        Column("deactivated_at", "time", "When an administrator deactivated the rater; the verdicts given stay."),
        Column("withdrawn_at", "time", "When the rater withdrew consent; texts are gone then, counts stay."),
        Column("phase", "text", "What the rater was at: practice, rating, check, guesses or done.", needs=PHASED),
    ),
)

SITTINGS = Table(
    "sittings",
    "Every stay of every rater. A row is a sitting.",
    CLOSED,
    (
        Column("sitting", "text", "The sitting's code."),
        Column("rater", "text", "The rater's code."),
        Column("started_at", "time", "When it began."),
        Column("last_seen_at", "time", "The last sign of life in it."),
        Column("active_seconds", "number", "Sum of the gaps between signs of life, each capped, in seconds."),
        Column("ended_at", "time", "When it ended; empty while it lasts."),
        Column("ended_by", "text", "The administrator who ended it; empty when it ended by itself or by a pause."),
        Column("paused", "yes_no", "The rater ended it by a pause.", added=True),
        Column("unrested_seconds", "number", "Active seconds since the rater's last rest of 5 minutes.", added=True),
        Column(
            "break_offered_at", "time", "When a break was offered; empty where none was, or after a rest.", added=True
        ),
    ),
)

PRACTICE = Table(
    "practice",
    "Verdicts on practice items, which enter nothing. A row is an answer. Only where the design has practice.",
    CLOSED,
    (
        Column("rater", "text", "The rater's code."),
        Column("item", "text", "The practice item's code."),
        Column("verdict", "text", "INTERPRETABLE, NOT_INTERPRETABLE or CANNOT_DECIDE."),
        Column("answer", "text", "What it should have been."),
        Column("hypothesis", "text", "What the rater wrote; may be empty."),
        Column("at", "time", "When the server took it."),
        Column("seconds", "number", "Server time since the rater's last step, in seconds."),
        Column("read_at", "time", "When the rater went on from the answer; empty if they never did."),
    ),
    needs=("practice_items",),
)

CHECKS = Table(
    "checks",
    "Answers of the hypothesis check. A row is a rater and a neuron. Only where the design has a check.",
    CLOSED,
    (
        Column("rater", "text", "The rater's code."),
        Column("item", "text", "The code of the item with the held-out snippets."),
        Column("about", "text", "The code of the item whose neuron it is about."),
        Column("fires", "text", "Numbers of the snippets that the rater ticked, from 1."),
        Column("at", "time", "When the server took it."),
        Column("seconds", "number", "Server time since the rater's last step, in seconds."),
        Column("bands", "text", "The band of each snippet, in the order shown: 0 to 4 fire, 5 is quiet.", UNBLINDED),
        Column("arm", "text", "The arm's name.", UNBLINDED),
        Column("condition", "text", "The arm's condition.", UNBLINDED),
    ),
    needs=("check_snippets",),
)

GUESSES = Table(
    "guesses",
    "What raters guessed at the end. A row is a rater and an item. Only where the design asks for guesses.",
    CLOSED,
    (
        Column("rater", "text", "The rater's code."),
        Column("item", "text", "The item's code."),
        Column("guess", "text", "The condition that the rater guessed, or UNKNOWN for “don't know”."),
        Column("at", "time", "When the server took it."),
        Column("seconds", "number", "Server time since the rater's last step, in seconds."),
        Column("arm", "text", "The arm's name.", UNBLINDED),
        Column("condition", "text", "The condition that it was.", UNBLINDED),
    ),
    needs=("guesses",),
)

ARMS = Table(
    "arms",
    "The models that were compared. A row is an arm.",
    UNBLINDED,
    (
        Column("arm", "text", "The arm's name."),
        Column("condition", "text", "The MLP's kind: gelu, solu, solu_ln, gelu_ln, …"),
        Column("size", "whole", "Parameters, embedding and unembedding aside."),
        Column("model_seed", "whole", "Training seed; 0 where nobody said."),
        Column("layers", "whole", "Layers of the model."),
        Column("hidden", "whole", "Neurons in each layer."),
        Column("validation_loss", "number", "Nats a token on held-out text; empty when it is not known."),
        Column("train_tokens", "whole", "Tokens the model was trained on; 0 where nobody said."),
        Column("run_digest", "text", "Digest of the run folder the snippets are from."),
    ),
)

PLACEMENTS = Table(
    "placements",
    "Where every item stood in the sealed order of every seat. A row is a seat and an item.",
    UNBLINDED,
    (
        Column("seat", "whole", "The seat's number, from 1."),
        Column("position", "whole", "The place in the seat's order."),
        Column("item", "text", "The item's code."),
        Column("kind", "text", "The item's kind."),
        Column("unit_tag", "text", "A keyed hash of the unit: equal for a neuron and its repeat."),
    ),
)

MACHINE_VERDICTS = Table(
    "machine_verdicts",
    "What machine raters said, apart from every person's verdict. A row is a machine rater and an item.",
    UNBLINDED,
    (
        Column("rater", "text", "The machine rater's code; “rules” is the rule rater."),
        Column("name", "text", "What the report calls it."),
        Column("rater_kind", "text", "machine."),
        Column("model", "text", "The model's name at its endpoint; empty for the rule rater."),
        Column("item", "text", "The item's code."),
        Column("verdict", "text", "INTERPRETABLE, NOT_INTERPRETABLE or CANNOT_DECIDE."),
        Column("hypothesis", "text", "The rule in words; may be empty."),
        Column("rule", "text", "The rule rater's rule in its grammar, or the nearest there is; empty for a model."),
        Column("covered", "whole", "Peaks at which the rule holds; empty for a model."),
        Column("base_rate", "number", "Share of random tokens at which the rule holds; empty for a model."),
    ),
    may_be_empty=True,
)

MACHINE_CALLS = Table(
    "machine_calls",
    "Every request to a model's endpoint. A row is a request.",
    UNBLINDED,
    (
        Column("rater", "text", "The machine rater's code."),
        Column("item", "text", "The item's code."),
        Column("at", "time", "When it was sent."),
        Column(
            "outcome",
            "text",
            "answered, malformed, refused, limited, failed, timed_out, disconnected; started where its end is unknown.",
        ),
        Column("status", "whole", "The HTTP status; empty where there was none."),
        Column("seconds", "number", "How long it took; empty where nobody saw its end."),
        Column("prompt_tokens", "whole", "Tokens read, as the endpoint counts; empty where it does not say."),
        Column("completion_tokens", "whole", "Tokens written, as the endpoint counts; empty where it does not say."),
        Column("cost", "number", "By the prices that were given; empty where it is not known."),
        Column("detail", "text", "What was wrong; empty where nothing was."),
    ),
    may_be_empty=True,
)

AMENDMENTS = Table(
    "amendments",
    "Plans written down after the sealed one, first to last. A row is an amendment.",
    CLOSED,
    (
        Column("number", "whole", "Its number, from 1."),
        Column("at", "time", "When it was written down."),
        Column("plan_digest", "text", "SHA-256 of the whole plan from then on, as raters were shown it."),
        Column("verdicts", "whole", "How many verdicts there were by then."),
        Column("actor", "text", "Who wrote it.", UNBLINDED),
        Column("reason", "text", "Why.", UNBLINDED),
        Column("changes", "text", "What it changed, as JSON: field, and the value before and after.", UNBLINDED),
        Column("plan", "text", "The whole plan from then on, as JSON.", UNBLINDED),
    ),
    may_be_empty=True,
)

OPENED_EARLY = Table(
    "opened_early",
    "Items whose neuron was told before the study was unblinded. A row is an item; the main figure leaves it out.",
    UNBLINDED,
    (
        Column("item", "text", "The item's code."),
        Column("at", "time", "When it was opened."),
        Column("actor", "text", "Who opened it."),
        Column("reason", "text", "Why."),
        Column("arm", "text", "The arm's name."),
        Column("condition", "text", "The arm's condition."),
        Column("kind", "text", "The item's kind."),
        Column("layer", "whole", "The unit's layer, from 0."),
        Column("neuron", "whole", "The unit's number in its layer, from 0."),
        Column("leaf", "text", "The item's leaf in the seal, which the log names too."),
    ),
    may_be_empty=True,
)

EVENTS = Table(
    "events",
    "The study's log. A row is a line; each carries the hash of the one before.",
    UNBLINDED,
    (
        Column("line", "whole", "The line's number, from 1."),
        Column("at", "time", "When it was written."),
        Column("actor", "text", "Who did it."),
        Column("what", "text", "What was done."),
        Column("detail", "text", "The particulars, as JSON; digests rather than texts."),
        Column("previous", "text", "The hash of the line before."),
        Column("hash", "text", "SHA-256 over this line and the hash of the one before."),
    ),
)

DICTIONARY = Table(
    "dictionary",
    "What every column of an export means. A row is a column of a table.",
    OPEN,
    (
        Column("table", "text", "The table."),
        Column("column", "text", "The column."),
        Column("kind", "text", "text, whole (a whole number), number, time (ISO 8601, UTC) or yes_no (true or false)."),
        Column("about", "text", "What a cell says."),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        PROGRESS,
        RATINGS,
        ITEMS,
        RATERS,
        SITTINGS,
        PRACTICE,
        CHECKS,
        GUESSES,
        ARMS,
        PLACEMENTS,
        MACHINE_VERDICTS,
        MACHINE_CALLS,
        AMENDMENTS,
        OPENED_EARLY,
        EVENTS,
    )
}


def given_out_in(state: StudyState, design: Mapping[str, Any]) -> list[Table]:
    """The tables that may leave a study in this state, with the columns that may."""
    tables = [table for table in TABLES.values() if asked_for(design, table.needs) and reached(state, table.since)]
    return [table.seen_in(state, design) for table in tables]


def dictionary(tables: list[Table]) -> list[tuple[str, str, str, str]]:
    """Rows of the data dictionary: table, column, kind, meaning."""
    return [(table.name, column.name, column.kind, column.about) for table in tables for column in table.columns]


def markdown() -> str:
    """The data dictionary as docs/exports.md prints it; a test compares the two."""
    parts = []
    for table in TABLES.values():
        lines = [f"### {table.name}", "", f"{table.about} Given out once the study is {table.since.value}.", ""]
        lines += ["| column | kind | given out once | meaning |", "| --- | --- | --- | --- |"]
        for column in table.columns:
            since = max(column.since, table.since, key=ORDER.index)
            lines.append(f"| `{column.name}` | {column.kind} | {since.value} | {column.about} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
