"""What somebody asks for when they make a study: its name, its runs, its design and its plan. Pure."""

from dataclasses import dataclass, field, fields

from app.reports.statistics.plan import Plan
from app.studies.design import Design

USUAL_PLAN = Plan(baseline="")
"""The paper's rules. No baseline: GELU where there is one, else the first condition by name."""
FOLLOWS = {"estimand", "looks", "simulated"}
"""Fields of a plan that follow from the study itself."""
PLANNED = tuple(field.name for field in fields(Plan) if field.name not in {*FOLLOWS, "excluded_raters"})
"""Fields of a plan that can be asked for before there are raters."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A study before it is drawn: what the form, the file and the command line all say."""

    name: str = ""
    pilot: bool = False
    """A trial that is kept apart and never counted."""
    runs: tuple[str, ...] = ()
    """Run folders, by path or by their name in the folder of runs."""
    design: Design = field(default_factory=Design)
    plan: Plan = USUAL_PLAN
    """How it will be analysed; what follows from the study is filled in when it is frozen."""


CONDITIONS = ("gelu", "solu_ln")
LAYERS = (1, 16, 24, 40, 64)
PAPER = Asked(
    name="The paper's protocol",
    runs=(*(f"{condition}-{layers}l" for layers in LAYERS for condition in CONDITIONS), "gelu_ln-16l"),
)
"""60 neurons of each of two models at five sizes, and of one with LayerNorm alone: 660, each judged once."""
THOROUGH = Asked(
    name="A thorough comparison",
    runs=CONDITIONS,
    design=Design(
        neurons_per_arm=120,
        seats=6,
        overlap=30,
        mixed_per_arm=6,
        directions_per_arm=6,
        repeats_per_arm=6,
        rank_shaded_per_arm=24,
        practice_items=8,
        check_snippets=12,
        guesses=20,
        unblinders=2,
    ),
)
"""Two models, and everything that a sceptical reader would ask for."""
FIRST = Asked(name="A first study", runs=CONDITIONS, design=Design(overlap=20))
TEMPLATES = {"first": FIRST, "paper": PAPER, "thorough": THOROUGH}
