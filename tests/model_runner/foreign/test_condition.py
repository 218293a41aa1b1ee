"""The condition of a foreign model: its activation function, and whether it is gated."""

# Shape suffixes: B batch, T tokens, D model width, F hidden units.
import pytest

from model_runner.errors import RunnerError
from model_runner.foreign.condition import condition_of
from tests.model_runner.foreign.families import FAMILIES, reader


@pytest.mark.parametrize("name", FAMILIES)
def test_the_condition_names_the_function_and_the_gate(name: str) -> None:
    model = reader(name)
    assert condition_of(model.network.config.to_dict(), model.hidden.gated) == FAMILIES[name].condition  # type: ignore[union-attr, operator]


def test_exact_and_approximate_gelu_are_two_conditions() -> None:
    names = ("gelu", "gelu_python", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "quick_gelu")
    assert [condition_of({"hidden_act": name}, False) for name in names] == [
        "gelu",
        "gelu",
        "gelu_new",
        "gelu_new",
        "gelu_new",
        "quick_gelu",
    ]


def test_a_config_without_a_function_is_refused() -> None:
    with pytest.raises(RunnerError, match=r"does not name its activation function .* --condition"):
        condition_of({"model_type": "odd"}, gated=False)
