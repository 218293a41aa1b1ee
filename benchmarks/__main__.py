"""`python -m benchmarks [ONLY=name]`: a JSON line a benchmark; 1 is returned for a missed target, 2 for what lacks."""

import sys
from collections.abc import Callable

from benchmarks import (
    bootstrap,
    collect_all_vs_bare,
    collect_memory,
    collect_smollm2,
    collect_two_ranks,
    collect_vs_bare,
    collect_vs_full,
    collect_vs_transformerlens,
    coverage,
    coverage_check,
    create_study,
    large_study,
    open_neuron,
    page_vs_bare,
    rating_load,
    rating_vs_pearmut,
    solu_cost,
    train_vs_plain,
    worker_memory,
)
from benchmarks.outcome import Outcome
from model_runner.errors import RunnerError

BENCHMARKS: dict[str, Callable[[], Outcome]] = {
    collect_vs_bare.NAME: collect_vs_bare.measure,
    collect_all_vs_bare.NAME: collect_all_vs_bare.measure,
    collect_vs_transformerlens.NAME: collect_vs_transformerlens.measure,
    collect_vs_full.NAME: collect_vs_full.measure,
    collect_two_ranks.NAME: collect_two_ranks.measure,
    collect_memory.NAME: collect_memory.measure,
    collect_smollm2.NAME: collect_smollm2.measure,
    solu_cost.NAME: solu_cost.measure,
    train_vs_plain.NAME: train_vs_plain.measure,
    open_neuron.NAME: open_neuron.measure,
    bootstrap.NAME: bootstrap.measure,
    coverage.NAME: coverage.measure,
    coverage_check.NAME: coverage_check.measure,
    page_vs_bare.NAME: page_vs_bare.measure,
    page_vs_bare.NAME_BYTES: page_vs_bare.measure_bytes,
    rating_load.SQLITE: rating_load.measure_sqlite,
    rating_load.POSTGRESQL: rating_load.measure_postgresql,
    rating_vs_pearmut.NAME: rating_vs_pearmut.measure,
    worker_memory.NAME: worker_memory.measure,
    large_study.NAME: large_study.measure,
    create_study.NAME: create_study.measure,
}


def main(arguments: list[str]) -> int:
    wanted = [argument.removeprefix("ONLY=") for argument in arguments if argument.removeprefix("ONLY=")]
    unknown = [name for name in wanted if name not in BENCHMARKS]
    if unknown:
        sys.stderr.write(f"There is no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}.\n")
        return 2
    outcomes = []
    for name in wanted or BENCHMARKS:
        try:
            outcomes.append(BENCHMARKS[name]())
        except RunnerError as error:
            sys.stderr.write(f"{name} could not be measured: {error}\n")
            return 2
        sys.stdout.write(outcomes[-1].line() + "\n")
        sys.stdout.flush()
    return 0 if all(outcome.ok for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
