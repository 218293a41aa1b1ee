"""Words that templates take from a list. N_ marks them for translation."""

from app.models import Verdict
from app.words.language import N_

VERDICT_WORDS = {
    Verdict.INTERPRETABLE: N_("Interpretable"),
    Verdict.NOT_INTERPRETABLE: N_("Not interpretable"),
    Verdict.CANNOT_DECIDE: N_("Cannot decide"),
}
KEY_NAMES = (
    ("i", N_("Interpretable")),
    ("n", N_("Not interpretable")),
    ("c", N_("Cannot decide")),
    ("u", N_("Undo")),
    ("e", N_("Hypothesis")),
    ("w", N_("Widen")),
    ("l", N_("Line up")),
    ("j", N_("Next peak")),
    ("k", N_("Previous peak")),
    ("p", N_("Pause")),
)
PALETTE_NAMES = (
    ("red", N_("Red")),
    ("blue", N_("Blue, safe for colour-blind readers")),
    ("grey", N_("Grey")),
)
THEME_NAMES = (("light", N_("Light")), ("dark", N_("Dark")))
