"""What SoLU + LN costs in training time over GELU: the same batches through both, a step in turns.

On a CPU the demonstration's shape, as `glance-runner train` computes it. Where there is a GPU, a larger shape in
bfloat16, compiled, as `glance-runner train --device cuda --compile --bf16` does.
"""

import torch
from torch import Tensor

from benchmarks.outcome import Outcome
from benchmarks.training_turns import Step, in_turns, ratio_of, tokens_per_second
from model_runner.architecture.config import MLPName, ModelConfig, find_config, read_config
from model_runner.architecture.model import new_model
from model_runner.memory import keep_freed_memory
from model_runner.train.loss import BatchLoss
from model_runner.train.optimizer import new_optimizer, set_rate
from model_runner.train.step import update

NAME = "solu-cost"
ARMS: tuple[MLPName, MLPName] = ("gelu", "solu_ln")
TARGETS = {"cpu": 1.05, "cuda": 1.01}
CONFIGS = {"cpu": "demo", "cuda": "201m"}
VOCABULARY = 4096
BATCH_TOKENS = {"cpu": 2048, "cuda": 65_536}
ROUNDS = {"cpu": 60, "cuda": 200}
RATE = 0.01
"""Share of the peak rate: nothing has to be learned from random tokens, and nothing may diverge."""


def measure() -> Outcome:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    keep_freed_memory()
    steps: dict[str, Step] = {arm: _step(arm, device) for arm in ARMS}
    taken = in_turns(steps, ROUNDS[device])
    ratio = ratio_of(taken, "solu_ln", "gelu")
    detail = {
        "processor_ratio": round(ratio.processor, 4),
        "tokens_per_second": tokens_per_second(taken, BATCH_TOKENS[device]),
        "config": CONFIGS[device],
        "rounds": ROUNDS[device],
        "device": device,
        "threads": torch.get_num_threads(),
    }
    return Outcome(NAME, round(ratio.clock, 4), TARGETS[device], ratio.clock <= TARGETS[device], detail)


def _step(arm: MLPName, device: str) -> Step:
    config, train = read_config(
        find_config(CONFIGS[device]), {"mlp": arm, "vocab_size": VOCABULARY}, {"bf16": device == "cuda"}
    )
    model = new_model(config, seed=0).to(device)
    optimizer = new_optimizer(model, train)
    set_rate(optimizer, RATE)
    loss = BatchLoss(model, train.bf16, compiled=device == "cuda")
    return lambda number: update(loss, model, optimizer, _tokens(config, number, device), train)


def _tokens(config: ModelConfig, number: int, device: str) -> Tensor:
    generator = torch.Generator().manual_seed(number)
    windows = BATCH_TOKENS[device] // config.context
    return torch.randint(VOCABULARY, (windows, config.context + 1), generator=generator).to(device)
