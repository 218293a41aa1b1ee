"""The exponential form of SoLU + LN is the same function, up to the LayerNorm's eps."""

# Shape suffixes: B batch, T tokens, F neurons, N blocks of G neurons.
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from model_runner.architecture.mlp import NORM_EPS, BlockNorm, Exponential, Solu
from model_runner.architecture.swap import swap, swap_checkpoint
from model_runner.checkpoint import load_checkpoint
from model_runner.cli import main
from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.train.train import train
from tests.model_runner.models import random_tokens, scrambled, small_config, small_corpus, small_training


def draw(*shape: int, scale: float = 1.0) -> Tensor:
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def norm_of(neurons: int, n_blocks: int) -> BlockNorm:
    norm = BlockNorm(neurons, n_blocks).double()
    with torch.no_grad():
        norm.weight.copy_(draw(neurons))
        norm.bias.copy_(draw(2 * neurons)[neurons:])
    return norm


@pytest.mark.parametrize("n_blocks", [1, 4])
@pytest.mark.parametrize("scale", [3.0, 30.0, 1e4])
def test_both_forms_are_one_function_of_large_inputs(n_blocks: int, scale: float) -> None:
    """Inputs of a trained model's size and far beyond, where exp(x) alone would overflow."""
    x_TF = draw(50, 64, scale=scale)
    norm = norm_of(64, n_blocks)
    torch.testing.assert_close(norm(Exponential(n_blocks)(x_TF)), norm(Solu(n_blocks)(x_TF)), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("n_blocks", [1, 4])
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_what_differs_is_the_eps_and_by_how_much(n_blocks: int, scale: float) -> None:
    """LN(SoLU(x)) with eps is LN(x exp(x - m)) with eps times the square of the softmax's sum, at any size of x."""
    x_TF = draw(50, 64, scale=scale)
    x_TNG = x_TF.view(50, n_blocks, -1)
    sums_TN1 = (x_TNG - x_TNG.amax(dim=-1, keepdim=True)).exp().sum(dim=-1, keepdim=True)
    acts_TNG = Exponential(n_blocks)(x_TF).view_as(x_TNG)
    centred_TNG = acts_TNG - acts_TNG.mean(dim=-1, keepdim=True)
    variance_TN1 = centred_TNG.pow(2).mean(dim=-1, keepdim=True)
    expected_TNG = centred_TNG / (variance_TN1 + NORM_EPS * sums_TN1**2).sqrt()
    solu_TNG = Solu(n_blocks)(x_TF).view_as(x_TNG)
    torch.testing.assert_close(functional.layer_norm(solu_TNG, solu_TNG.shape[-1:], eps=NORM_EPS), expected_TNG)


@pytest.mark.parametrize("n_blocks", [1, 2])
def test_the_exponential_has_the_gradient_of_its_formula(n_blocks: int) -> None:
    assert torch.autograd.gradcheck(Exponential(n_blocks), (draw(3, 8).requires_grad_(),))


@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4])
def test_numbers_and_gradients_stay_finite(scale: float) -> None:
    x_TF = draw(20, 64, scale=scale).float().requires_grad_()
    out_TF = BlockNorm(64)(Exponential()(x_TF))
    (gradient_TF,) = torch.autograd.grad(out_TF.pow(3).sum(), x_TF)
    assert out_TF.isfinite().all()
    assert gradient_TF.isfinite().all()


def test_blocks_are_shifted_each_by_its_own_maximum() -> None:
    x_F = torch.tensor([500.0, 0.0, 1.0, -1.0])
    torch.testing.assert_close(Exponential(2)(x_F), torch.tensor([500.0, 0.0, 1.0, -(torch.e**-2)]))


@pytest.mark.parametrize("n_blocks", [1, 2])
def test_a_swapped_model_says_the_same(n_blocks: int) -> None:
    trained = scrambled(small_config("exp_ln", n_blocks=n_blocks))
    with torch.no_grad():
        for block in trained.blocks:
            block.mlp.up.weight.mul_(3.0)
    tokens_BT = random_tokens(trained.config, 2)
    swapped = swap(trained)
    assert swapped.config.mlp == "solu_ln"
    torch.testing.assert_close(swapped(tokens_BT), trained(tokens_BT), rtol=1e-2, atol=1e-2)
    back = swap(swapped)
    assert back.config == trained.config
    assert torch.equal(back(tokens_BT), trained(tokens_BT))


def test_an_mlp_of_one_form_is_refused() -> None:
    with pytest.raises(RunnerError, match="An MLP called gelu has no other form; exp_ln and solu_ln are two of one"):
        swap(scrambled(small_config("gelu")))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("corpus") / "corpus")


def test_swapping_a_checkpoint(corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained = train(small_config("exp_ln"), small_training(), corpus, tmp_path / "trained")
    asked = ["swap", "--checkpoint", str(tmp_path / "trained"), "--corpus", str(corpus.folder)]
    assert main([*asked, "--out", str(tmp_path / "read")]) == 0
    swapped = load_checkpoint(tmp_path / "read")
    assert swapped.config.mlp == "solu_ln"
    assert swapped.train.swapped_from == trained.digest
    assert swapped.train.weights_digest == trained.train.weights_digest
    assert (swapped.train.tokens, swapped.train.train) == (trained.train.tokens, trained.train.train)
    assert trained.train.val_loss is not None
    assert swapped.train.val_loss == pytest.approx(trained.train.val_loss, abs=0.05)
    assert f"exp_ln, held-out loss {trained.train.val_loss:.4f} nats a token, is now solu_ln" in capsys.readouterr().out
    assert (tmp_path / "read" / "tokenizer.json").is_file()
    # Nothing is written over, and a swapped folder is not taken for one that was trained like that.
    assert main([*asked, "--out", str(tmp_path / "read")]) == 2
    assert "holds a checkpoint already" in capsys.readouterr().err
    with pytest.raises(RunnerError, match="weights that were trained in another form"):
        train(small_config("solu_ln"), small_training(), corpus, tmp_path / "read")


def test_the_two_forms_are_two_checkpoints_and_are_collected_apart(corpus: Corpus, tmp_path: Path) -> None:
    trained = train(small_config("exp_ln"), small_training(), corpus, tmp_path / "trained")
    swapped = swap_checkpoint(tmp_path / "trained", tmp_path / "read", corpus)
    back = swap_checkpoint(tmp_path / "read", tmp_path / "back", corpus)
    assert len({trained.digest, swapped.digest, back.digest}) == 3
    assert swapped.digest == load_checkpoint(tmp_path / "read").digest
    collect(trained, corpus, tmp_path / "run", CollectConfig(kept=2))
    with pytest.raises(RunnerError, match="was begun with checkpoint_digest"):
        collect(swapped, corpus, tmp_path / "run", CollectConfig(kept=2))


def test_a_corpus_of_another_tokenizer_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    train(small_config("exp_ln"), small_training(), corpus, tmp_path / "trained")
    other = small_corpus(tmp_path / "other", vocabulary=300)
    asked = ["swap", "--checkpoint", str(tmp_path / "trained"), "--corpus", str(other.folder)]
    assert main([*asked, "--out", str(tmp_path / "read")]) == 2
    assert not (tmp_path / "read").exists()
