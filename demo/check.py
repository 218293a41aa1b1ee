"""The whole study without a person: simulated raters over real HTTP, unblinding, report, and a look at every part."""

import json
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from demo.models import read_times
from demo.places import VAR
from demo.raters import HABITS, Stuck, rate_everything
from demo.rules import BASELINE, TREATED, fault, find_rules, rule_difference, rules_of, share
from demo.server import free_port, serving
from demo.study import Made, environment, glance, make_study
from model_runner.progress import progress
from model_runner.run.folder import open_run

FOLDER = VAR / "check"


def check(runs: Sequence[Path], others: Sequence[Path], *, neurons: int, started: float) -> dict[str, Any]:
    """Rate, unblind and report; raises SystemExit with a sentence when anything is off."""
    find_rules(runs)  # before the study is drawn, which seals what they say
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    made = make_study(FOLDER, runs, others, simulated=True, raters=len(HABITS), neurons=neurons)
    verdicts = _rate(made, len(runs) * neurons)
    glance(FOLDER, "close", made.study)
    act = ("--administrator", made.administrator, "--password-stdin", "--reason", "every simulated verdict is in")
    glance(FOLDER, "unblind", made.study, *act, given=made.password + "\n")
    glance(FOLDER, "report", made.study, "--out", FOLDER / "report")
    glance(FOLDER, "export", made.study, "--out", FOLDER / "export", "--strict")
    glance(FOLDER, "verify", FOLDER / "export")
    report = json.loads((FOLDER / "report" / "report.json").read_text(encoding="utf-8"))
    faults = [*_faults(report, verdicts, len(runs), neurons)]
    by_condition = {open_run(run).info.condition: rules_of(run) for run in runs}
    difference = rule_difference(by_condition[TREATED], by_condition[BASELINE])
    if no_direction := fault(difference):
        faults.append(no_direction)
    if faults:
        raise SystemExit("\n".join(faults))
    return _summary(runs, report, verdicts, started) | {"rule_difference": difference}


def _faults(report: dict[str, Any], verdicts: int, arms: int, neurons: int) -> Iterator[str]:
    """What does not fit together, a sentence each."""
    rows = len(pd.read_csv(FOLDER / "export" / "ratings.csv"))
    if rows != verdicts:
        yield f"{verdicts} verdicts were given and {rows} were exported."
    if len(report["arms"]) != arms:
        yield f"The report has {len(report['arms'])} arms; the study has {arms}."
    for arm in report["arms"]:
        value = arm["fraction"]["value"]
        if arm["neurons"] != neurons or value is None or not 0 <= value <= 1:
            yield f"Arm {arm['condition']} has {arm['neurons']} neurons of {neurons} and a fraction of {value}."
    for page in (FOLDER / "report").glob("*.html"):
        if "SIMULATED" not in page.read_text(encoding="utf-8"):
            yield f"{page} does not say that its raters were simulated."


def _rate(made: Made, items: int) -> int:
    given: list[int] = []
    stuck: list[Exception] = []
    with (
        serving(free_port(), environment(FOLDER)) as base,
        progress("Simulated raters", items, "neurons at least") as bar,
    ):

        def rate(link: str, number: int) -> None:
            try:
                given.append(rate_everything(link, base, HABITS[number], bar.advance))
            except (Stuck, OSError) as error:
                stuck.append(error)

        threads = [threading.Thread(target=rate, args=(link, n)) for n, link in enumerate(made.links)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if stuck:
        raise SystemExit(f"A simulated rater stopped: {stuck[0]}")
    return sum(given)


def _summary(runs: Sequence[Path], report: dict[str, Any], verdicts: int, started: float) -> dict[str, Any]:
    infos = [open_run(run).info for run in runs]
    by_condition = {arm["condition"]: arm for arm in report["arms"]}
    arms = [
        {
            "condition": info.condition,
            "size": info.size,
            "val_loss": info.validation_loss,
            "neurons": by_condition[info.condition]["neurons"],
            "simulated_fraction": by_condition[info.condition]["fraction"]["value"],
            # Of all neurons that can be shown, not only of those in the study.
            "rule_neurons": len(found.units),
            "rule_fraction": share(found),
            "one_token_fraction": share(found, "token"),
        }
        for info, found in zip(infos, map(rules_of, runs), strict=True)
    ]
    return {
        "arms": arms,
        "train_tokens_per_second": _speed("train", {info.condition: info.train_tokens for info in infos}),
        "collect_tokens_per_second": _speed("collect", {info.condition: info.collected_tokens for info in infos}),
        "verdicts": verdicts,
        "seconds": round(time.monotonic() - started, 1),
    }


def _speed(step: str, tokens: dict[str, int]) -> int:
    """Tokens a second over all arms, of the runs that did the work."""
    times = read_times()
    return round(sum(tokens.values()) / sum(times[f"{step} {arm}"] for arm in tokens))
