"""What the audit says of each act. Pure.

An act that is not here is not shown, nor is a key: so that nothing written down later is told by accident, and no arm,
no secret and no link ever is.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.words.language import N_

OF_STUDIES: Mapping[str, tuple[str, ...]] = {
    N_("study created"): ("items", "pilot"),
    N_("study closed"): ("verdicts",),
    N_("study opened again"): (),
    N_("plan amended"): ("number", "verdicts"),
    N_("unblinding asked for"): (),
    N_("unblinding no longer asked for"): ("why",),
    N_("unblinding refused"): (),
    N_("study unblinded"): ("asked_by", "verdicts"),
    N_("item opened early"): (),
    N_("early opening refused"): (),
    N_("link made"): ("kind", "reusable"),
    N_("link withdrawn"): (),
    N_("rater joined"): (),
    N_("rater deactivated"): (),
    N_("rater let in again"): (),
    N_("neurons freed"): ("neurons",),
    N_("terms changed"): ("day_goal", "most_a_day", "most_raters", "return_host"),
    N_("consent withdrawn"): (),
    N_("session ended"): (),
    N_("session re-opened"): (),
    N_("ratings imported"): ("raters", "ratings"),
    N_("machine rater came in"): ("name", "model"),
    N_("machine rater stopped"): ("verdicts", "calls"),
}
"""Acts in the logs of studies, with the keys of each that are shown."""
OF_PEOPLE: Mapping[str, tuple[str, ...]] = {
    N_("signed in"): ("how",),
    N_("sign-in failed"): ("how",),
    N_("signed out"): (),
    N_("administrator added"): ("roles",),
    N_("roles changed"): ("given", "taken"),
    N_("address changed"): (),
    N_("administrator deactivated"): (),
    N_("administrator reactivated"): (),
    N_("password given"): (),
    N_("password changed"): (),
    N_("download taken"): ("file",),
    N_("backup taken"): (),
}
"""Acts that no study's own log tells."""
SHOWN: Mapping[str, tuple[str, ...]] = {**OF_STUDIES, **OF_PEOPLE}
ACTS = tuple(SHOWN)
KEYS: Mapping[str, str] = {
    "items": N_("items"),
    "pilot": N_("a pilot"),
    "verdicts": N_("verdicts"),
    "number": N_("number"),
    "why": N_("why"),
    "asked_by": N_("asked for by"),
    "kind": N_("kind"),
    "reusable": N_("for several raters"),
    "raters": N_("raters"),
    "ratings": N_("versions of verdicts"),
    "name": N_("name"),
    "model": N_("model"),
    "calls": N_("calls"),
    "how": N_("how"),
    "roles": N_("roles"),
    "given": N_("given"),
    "taken": N_("taken"),
    "file": N_("file"),
    "neurons": N_("neurons"),
    "day_goal": N_("a day’s goal"),
    "most_a_day": N_("most a day"),
    "most_raters": N_("most raters"),
    "return_host": N_("way back to"),
}


OWN_WORDS = frozenset({"reusable", "pilot", "why", "kind", "how", "roles", "given", "taken"})
"""Keys whose values are words of ours, of which some hold several; the others are names and numbers."""
WORDS = (
    N_("yes"), N_("taken back"), N_("opened again"), N_("plan amended"), N_("human"), N_("machine"), N_("simulated"),
    N_("password"), N_("provider"), N_("manage"), N_("rate"), N_("unblind"),
)  # fmt: skip
NOBODY = (N_("the command line"), N_("somebody unknown"))
"""Actors who are no person of the database."""


class Said(NamedTuple):
    """One thing that is said of an act."""

    key: str
    value: str

    @property
    def words(self) -> list[str]:
        """The value in pieces that a catalogue may know."""
        return self.value.split(", ") if self.key in OWN_WORDS else []


def said(what: str, detail: Mapping[str, Any]) -> list[Said]:
    """What may be shown of an act, in the order of its keys. What is empty or “no” goes without saying."""
    found = [(key, detail.get(key)) for key in SHOWN.get(what, ())]
    return [Said(key, _text(value)) for key, value in found if value is not False and value not in (None, "", [])]


def _text(value: Any) -> str:
    if value is True:
        return "yes"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return str(value)
