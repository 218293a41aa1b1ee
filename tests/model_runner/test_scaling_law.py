"""The law and the multiplier on losses that are made up, so that the truth is known."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import curve_fit

from model_runner.errors import RunnerError
from model_runner.scaling.law import Form, choose_form, fit, scatter
from model_runner.scaling.multiplier import Multipliers, document_noise, multipliers, no_noise

SIZES = 12_288.0 * 4.0 ** np.arange(6)


def floor_law(sizes: np.ndarray) -> np.ndarray:
    """2 + 3 (N / 10^5)^-0.3."""
    return 2.0 + 3.0 * (sizes / 1e5) ** -0.3


def plain_law(sizes: np.ndarray) -> np.ndarray:
    return 4.0 * (sizes / 1e6) ** -0.08


def measured(
    losses: np.ndarray, at: np.ndarray, form: Form, seed: int = 0, arm: np.ndarray | None = None
) -> Multipliers:
    """Multipliers of an arm of the baseline's sizes, without noise of documents."""
    noise = no_noise(400, len(SIZES))
    rng = np.random.default_rng(seed)
    return multipliers((at, losses), (at, losses if arm is None else arm), form, (noise, noise), rng)[1]


def test_a_law_with_a_floor_is_found_again() -> None:
    law = fit(SIZES, floor_law(SIZES)[None, :], "floor")
    assert law.floor_R[0] == pytest.approx(2.0, abs=1e-4)
    assert law.exponent_R[0] == pytest.approx(0.3, abs=1e-4)
    assert law.losses(np.array([1e5, 1e7]))[0] == pytest.approx(floor_law(np.array([1e5, 1e7])), abs=1e-4)
    assert scatter(law, SIZES, floor_law(SIZES)) == (pytest.approx(0.0, abs=1e-8), 3)


def test_a_plain_law_is_found_again() -> None:
    law = fit(SIZES, plain_law(SIZES)[None, :], "plain")
    assert law.floor_R[0] == 0.0
    assert law.exponent_R[0] == pytest.approx(0.08)
    assert law.losses(np.array([1e6]))[0] == pytest.approx([4.0])
    assert scatter(law, SIZES, plain_law(SIZES))[1] == 4


def test_scattered_losses_have_the_law_of_another_program() -> None:
    losses = floor_law(SIZES) + np.random.default_rng(3).normal(0, 0.03, len(SIZES))
    start = (2.0, 3.0, 0.3)
    theirs, _ = curve_fit(lambda n, a, b, c: a + b * (n / 1e5) ** -c, SIZES, losses, p0=start)
    law = fit(SIZES, losses[None, :], "floor")
    assert (law.floor_R[0], law.exponent_R[0]) == pytest.approx((theirs[0], theirs[2]), rel=1e-3)


def test_a_law_read_backwards() -> None:
    law = fit(SIZES, floor_law(SIZES)[None, :], "floor")
    assert law.sizes(floor_law(SIZES)[None, :])[0] == pytest.approx(SIZES, rel=1e-3)
    assert law.sizes(np.array([[1.9]]))[0, 0] == np.inf, "below the floor there is no size"
    assert 0 < law.sizes(np.array([[1e200]]))[0, 0] < 1e-100, (
        "a loss beyond all bounds has a size of which a logarithm exists"
    )


def test_replicates_are_fitted_each_on_its_own() -> None:
    both = fit(SIZES, np.stack([floor_law(SIZES), floor_law(2 * SIZES)]), "floor")
    alone = fit(SIZES, floor_law(2 * SIZES)[None, :], "floor")
    assert both.scale_R[1] == alone.scale_R[0]


@pytest.mark.parametrize(("form", "law"), [("floor", floor_law), ("plain", plain_law)])
def test_an_arm_worth_a_twentieth_more_is_found(form: Form, law: Callable[[np.ndarray], np.ndarray]) -> None:
    noisy = law(SIZES) + np.random.default_rng(1).normal(0, 0.002, len(SIZES))
    found = measured(noisy, SIZES, form, arm=law(1.05 * SIZES))
    pooled = found.pooled
    assert pooled.low is not None
    assert pooled.high is not None
    assert pooled.low < 1.05 < pooled.high
    assert pooled.high - pooled.low < 0.25
    assert [model.extrapolated for model in found.models][1:4] == [False] * 3
    exact = measured(law(SIZES), SIZES, form, arm=law(1.05 * SIZES))
    assert exact.pooled.value == pytest.approx(1.05, rel=1e-3)
    assert [model.interval.value for model in exact.models] == pytest.approx([1.05] * 6, rel=1e-2)
    assert exact.models[-1].extrapolated, "the largest size would have to be larger still"


def test_a_loss_that_no_size_reaches_has_no_multiplier() -> None:
    found = measured(floor_law(SIZES), SIZES, "floor", arm=np.full(len(SIZES), 1.5))
    assert found.pooled.value is None
    assert all(model.equal_size is None and model.extrapolated for model in found.models)


def test_the_same_seed_gives_the_same_interval() -> None:
    noisy = floor_law(SIZES) + np.random.default_rng(1).normal(0, 0.01, len(SIZES))
    assert measured(noisy, SIZES, "floor", seed=5) == measured(noisy, SIZES, "floor", seed=5)
    assert measured(noisy, SIZES, "floor", seed=5) != measured(noisy, SIZES, "floor", seed=6)


@pytest.mark.parametrize(("form", "law", "sizes"), [("floor", floor_law, SIZES), ("plain", plain_law, SIZES[:4])])
def test_intervals_cover(form: Form, law: Callable[[np.ndarray], np.ndarray], sizes: np.ndarray) -> None:
    """Of 95 % intervals about nineteen in twenty hold the truth, whether six sizes or four carry the law."""
    rng = np.random.default_rng(7)
    noise = no_noise(200, len(sizes))
    held = pooled = 0
    for _ in range(150):
        baseline, arm = (law(size) + rng.normal(0, 0.01, len(sizes)) for size in (sizes, 1.05 * sizes))
        found = multipliers((sizes, baseline), (sizes, arm), form, (noise, noise), rng)[1]
        held += _holds(found.models[2].interval.low, found.models[2].interval.high)
        pooled += _holds(found.pooled.low, found.pooled.high)
    # 150 draws at 0.95 have a standard error of 0.018.
    assert held / 150 >= 0.90
    assert 0.90 <= pooled / 150 <= 0.995


def _holds(low: float | None, high: float | None) -> bool:
    return (low is not None and low <= 1.05) and (high is None or high >= 1.05)


def test_noise_of_documents_is_shared_by_the_models() -> None:
    rng = np.random.default_rng(0)
    tokens = rng.integers(50, 400, 300).astype(float)
    hard = rng.normal(4.0, 0.6, 300)
    nats = np.stack([hard * tokens, (hard + 0.1) * tokens], axis=1)
    noise = document_noise(nats, tokens, 1000, np.random.default_rng(1))
    mean = nats[:, 0].sum() / tokens.sum()
    expected = np.sqrt(300 / 299 * ((nats[:, 0] - mean * tokens) ** 2).sum()) / tokens.sum()
    assert noise[:, 0].std() == pytest.approx(expected, rel=0.08)
    assert np.abs(noise[:, 0] - noise[:, 1]).max() < 1e-12, "two models that find the same documents hard"


@pytest.mark.parametrize(
    ("sizes", "asked", "said"),
    [
        ([1e4, 1e5, 1e6], None, "The baseline has 3 sizes; a law needs at least 4"),
        ([1e4, 1e4, 1e4, 1e5], None, "The baseline has 2 sizes"),
        ([1e4, 1e5, 1e6, 1e7], "floor", r"fits 3 numbers to 4 sizes, which leaves 1 degree of freedom"),
    ],
)
def test_too_little_is_refused(sizes: list[float], asked: Form | None, said: str) -> None:
    with pytest.raises(RunnerError, match=said):
        choose_form(np.array(sizes), asked)


def test_the_form_that_sizes_can_carry() -> None:
    assert choose_form(SIZES[:4], None) == "plain"
    assert choose_form(SIZES[:5], None) == "floor"
    assert choose_form(SIZES, "plain") == "plain"


def test_a_baseline_that_does_not_fall_is_refused() -> None:
    with pytest.raises(RunnerError, match="does not fall with size"):
        measured(np.linspace(3.0, 4.0, len(SIZES)), SIZES, "plain")
