"""Names of conditions: those of imported models as well, and two functions never share one."""

import pytest

from app.conditions import CONDITIONS, condition_name
from model_runner.architecture.config import MLP_NAMES
from model_runner.foreign.condition import condition_of


@pytest.mark.parametrize("name", MLP_NAMES)
def test_what_is_trained_here_has_a_name(name: str) -> None:
    assert condition_name(name) != name


@pytest.mark.parametrize(
    ("config", "gated", "said"),
    [
        ({"activation_function": "gelu_new"}, False, "GELU (tanh)"),
        ({"hidden_act": "gelu"}, False, "GELU"),
        ({"hidden_act": "silu"}, True, "SwiGLU"),
        ({"hidden_activation": "gelu_pytorch_tanh"}, True, "GEGLU (tanh)"),
        ({"hidden_act": "gelu"}, True, "GEGLU"),
        ({"activation_function": "relu"}, False, "ReLU"),
    ],
)
def test_what_is_imported_has_the_name_that_a_reader_knows(config: dict[str, str], gated: bool, said: str) -> None:
    assert condition_name(condition_of(config, gated)) == said


def test_two_conditions_have_two_names() -> None:
    assert len(set(CONDITIONS.values())) == len(CONDITIONS)


def test_an_unknown_one_keeps_its_own() -> None:
    assert condition_name("snake_gated") == "snake_gated"
