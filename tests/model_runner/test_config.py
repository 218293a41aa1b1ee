import re
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from model_runner.architecture.config import (
    CONFIGS,
    LARGEST_MODEL,
    LONGEST_TRAINING,
    ModelConfig,
    TrainConfig,
    find_config,
    read_config,
)
from model_runner.architecture.model import Transformer
from model_runner.errors import RunnerError
from tests.model_runner.models import MLPS, small_config

TOML = "[model]\nlayers = 3\n[train]\ntokens = 1000\nlearning_rate = 1\n"


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.toml")), ids=lambda file: file.stem)
@pytest.mark.parametrize("mlp", MLPS)
def test_every_shipped_config_is_valid_for_every_arm(file: Path, mlp: str) -> None:
    model, train = read_config(find_config(file.stem), {"mlp": mlp, "vocab_size": 4096}, {})
    assert model.mlp == mlp
    assert train.tokens > 0


def test_a_file_and_what_overrides_it(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TOML)
    model, train = read_config(find_config(str(tmp_path / "mine.toml")), {"vocab_size": 500}, {"tokens": 7})
    assert (model.layers, model.vocab_size, train.tokens, train.learning_rate) == (3, 500, 7, 1)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[model\n", "is not a TOML file"),
        ("[modell]\n", "modell"),
        ("[model]\nlayer = 3\n[train]\ntokens = 1\n", "says layer, which this program does not know"),
        ("[model]\nlayers = '3'\n[train]\ntokens = 1\n", "layers is '3', which should be a valid integer"),
        ("[model]\nlayers = true\n[train]\ntokens = 1\n", "layers is True"),
        ("[model]\nlayers = 2.5\n[train]\ntokens = 1\n", "layers is 2.5"),
        ("[model]\n[train]\ntokens = 1\nbf16 = 1\n", "bf16 is 1, which should be a valid boolean"),
        ("[model]\n[train]\n", "does not say tokens"),
        ("[model]\nlayers = 0\n[train]\ntokens = 1\n", "layers is 0"),
        ("[model]\nrotary_base = 0\n[train]\ntokens = 1\n", "rotary_base is 0"),
        ("[model]\nwidth = 100\nheads = 3\n[train]\ntokens = 1\n", "Width 100"),
        ("[model]\nn_blocks = 3\n[train]\ntokens = 1\n", "3 equal blocks"),
        ("[model]\nmlp = 'relu'\n[train]\ntokens = 1\n", "mlp is 'relu', which should be 'gelu'"),
        ("[model]\n[train]\ntokens = 1\nlearning_rate = 0\n", "learning_rate is 0"),
        ("[model]\n[train]\ntokens = 1\nbeta_2 = 1.0\n", "beta_2 is 1.0"),
        ("[model]\n[train]\ntokens = 1\nclip = nan\n", "clip is nan"),
        (
            "[model]\n[train]\ntokens = 1\nlearning_rate = 1e400\n",
            "learning_rate is inf; it must be above 0 and finite",
        ),
        ("[model]\n[train]\ntokens = 1\nweight_decay = -0.1\n", "weight_decay is -0.1"),
        ("[model]\n[train]\ntokens = 1\nweight_decay = nan\n", "weight_decay is nan"),
        ("[model]\nrotary_base = inf\n[train]\ntokens = 1\n", "rotary_base is inf"),
        ("model = 5\n", "says model = 5; it must be a table, [model]"),
        ("[[train]]\ntokens = 1\n", "says train = [{'tokens': 1}]; it must be a table"),
        (f"a = {'[' * 3000}", "is not a TOML file that can be read: it is nested too deeply"),
        (f"[train]\ntokens = {'9' * 5000}\n", "is not a TOML file: Exceeds the limit"),
    ],
)
def test_what_a_config_refuses(tmp_path: Path, toml: str, said: str) -> None:
    (tmp_path / "bad.toml").write_text(toml)
    with pytest.raises(RunnerError, match=re.escape(said)):
        read_config(tmp_path / "bad.toml", {"vocab_size": 500}, {})


@pytest.mark.parametrize(
    ("kind", "name", "most"),
    [
        *((ModelConfig, name, most) for name, most in LARGEST_MODEL.items()),
        *((TrainConfig, name, most) for name, most in LONGEST_TRAINING.items()),
    ],
)
def test_what_no_machine_holds_is_refused(kind: type[ModelConfig | TrainConfig], name: str, most: int) -> None:
    needed = {"vocab_size": 300} if kind is ModelConfig else {"tokens": 300}
    with pytest.raises(RunnerError, match=f"{name} is {most + 1:,}; it must be at most {most:,}"):
        kind(**(needed | {name: most + 1}))


def test_a_config_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match=r"could not be read: Is a directory. Give another --config"):
        read_config(tmp_path, {}, {})


def test_an_unknown_config_names_those_that_ship() -> None:
    with pytest.raises(RunnerError, match=r"no config 'huge': give a TOML file or one of .*demo"):
        find_config("huge")


@pytest.mark.parametrize("mlp", MLPS)
def test_size_counts_the_matrices_and_is_one_for_all_arms(mlp: str) -> None:
    config = small_config("gelu")
    model = Transformer(small_config(mlp))
    matrices = [value for name, value in model.blocks.named_parameters() if value.ndim == 2]
    assert sum(value.numel() for value in matrices) == config.non_embedding_parameters


def test_configs_cannot_be_changed() -> None:
    for config in (ModelConfig(vocab_size=10), TrainConfig(tokens=10)):
        with pytest.raises(AttributeError):
            config.seed = 3


LADDER = ("12k", "49k", "197k", "786k", "3m", "13m", "50m", "201m", "805m", "3b", "13b", "50b")


HALF_RUNGS = ("27k", "110k", "442k")


def shape_of(rung: str) -> ModelConfig:
    return read_config(find_config(rung), {"mlp": "solu_ln", "vocab_size": 48_262}, {})[0]


def test_each_rung_of_the_ladder_is_about_four_times_the_one_before() -> None:
    sizes = [shape_of(rung).non_embedding_parameters for rung in LADDER]
    assert sizes[0] == 12_288
    assert all(3.9 < large / small < 4.1 for small, large in pairwise(sizes))
    assert sorted({shape_of(rung).layers for rung in LADDER}) == [1, 16, 24, 40, 64]
    assert {file.stem for file in CONFIGS.glob("*.toml")} == {"demo", *LADDER, *HALF_RUNGS}


def test_the_largest_rung_is_built_and_has_fifty_billion_parameters() -> None:
    config = shape_of("50b")
    with torch.device("meta"):
        model = Transformer(config)
    numbers = sum(value.numel() for value in model.parameters())
    matrices = sum(value.numel() for value in model.blocks.parameters() if value.ndim == 2)
    assert matrices == config.non_embedding_parameters == 51_539_607_552
    # Both embeddings; then, in each of 64 layers, biases of 9 widths, two norms of 2, and a norm of the neurons of 8.
    vectors = 64 * (9 + 4 + 8) * 8192 + 2 * 8192
    assert numbers == matrices + 2 * 48_262 * 8192 + vectors == 52_341_358_592
    assert (config.context, config.head_width) == (8192, 128)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"local_heads": 3}, "local_heads is 3; it must be 0 to 2"),
        ({"local_heads": -1}, "local_heads is -1"),
        ({"local_window": 0}, "local_window is 0; it must be at least 1"),
    ],
)
def test_what_a_window_refuses(given: dict[str, int], said: str) -> None:
    with pytest.raises(RunnerError, match=said):
        small_config(**given)
