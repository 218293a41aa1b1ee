import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from model_runner.architecture.config import MLPName
from model_runner.checkpoint import load_checkpoint, save_checkpoint
from model_runner.errors import RunnerError
from tests.model_runner.models import MLPS, random_tokens, record, scrambled, small_config


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "arm", scrambled(small_config()), record())
    return tmp_path / "arm"


@pytest.mark.parametrize("mlp", MLPS)
def test_what_is_read_is_what_was_saved(tmp_path: Path, mlp: MLPName) -> None:
    model = scrambled(small_config(mlp, n_blocks=2))
    saved = save_checkpoint(tmp_path, model, record(val_loss=None))
    loaded = load_checkpoint(tmp_path)
    tokens_BT = random_tokens(model.config, 2)
    assert torch.equal(loaded.model(tokens_BT), model(tokens_BT))
    assert (loaded.config, loaded.train) == (model.config, saved.train)
    assert len(loaded.digest) == 64


def test_a_loaded_model_is_for_reading(folder: Path) -> None:
    model = load_checkpoint(folder).model
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_the_digest_is_that_of_the_weights(tmp_path: Path) -> None:
    digests = [
        save_checkpoint(tmp_path / str(n), scrambled(small_config(), seed), record()).digest
        for n, seed in enumerate((0, 0, 1))
    ]
    assert digests[0] == digests[1] != digests[2]


def cut_short(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])


def flip_a_bit(folder: Path) -> None:
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-5] ^= 1
    (folder / "model.safetensors").write_bytes(content)


def change(file: str, **values: object) -> Callable[[Path], None]:
    def do(folder: Path) -> None:
        content = json.loads((folder / file).read_text())
        (folder / file).write_text(json.dumps({**content, **values}))

    return do


def older(damage: Callable[[Path], None]) -> Callable[[Path], None]:
    """The same in a checkpoint from before train.json had the digest of config.json."""

    def do(folder: Path) -> None:
        change("train.json", config_digest="")(folder)
        damage(folder)

    return do


def remove(file: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).unlink()


def write(file: str, content: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).write_text(content) and None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (cut_short, "model.safetensors is damaged"),
        (flip_a_bit, "model.safetensors is damaged"),
        (remove("model.safetensors"), "model.safetensors could not be read"),
        (remove("train.json"), "holds no finished checkpoint"),
        (remove("config.json"), "config.json could not be read"),
        (write("config.json", "{"), "config.json is damaged"),
        (write("config.json", "[]"), "does not hold a JSON object"),
        (write("train.json", '{"format": 1}'), "train.json does not say step"),
        (change("config.json", format=99), "config.json is not of format 1"),
        (change("train.json", format=99), "train.json is not of format 1"),
        (change("train.json", mood="good"), "says mood, which this program does not know"),
        (change("config.json", layers=3), "config.json has changed since train.json was written"),
        (change("config.json", width=1 << 17, layers=1_000), "config.json has changed since train.json was written"),
        (older(change("config.json", layers=3)), "does not fit its config"),
        (older(change("config.json", width=32)), "does not fit its config"),
        (older(change("config.json", mlp="gelu")), "does not fit its config"),
        (change("config.json", colour="red"), "says colour, which this program does not know"),
    ],
)
def test_damage_is_a_sentence(folder: Path, damage: Callable[[Path], None], said: str) -> None:
    damage(folder)
    with pytest.raises(RunnerError, match=said):
        load_checkpoint(folder)


def test_weights_of_another_type_are_refused(folder: Path) -> None:
    half = scrambled(small_config()).half()
    save_checkpoint(folder, half, record())
    with pytest.raises(RunnerError, match="does not fit its config"):
        load_checkpoint(folder)


def test_an_overwritten_checkpoint_is_unfinished_until_it_is_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise RunnerError("The disk is full.")

    monkeypatch.setattr("model_runner.checkpoint.write_atomically", full)
    with pytest.raises(RunnerError, match="disk is full"):
        save_checkpoint(folder, scrambled(small_config()), record())
    with pytest.raises(RunnerError, match="holds no finished checkpoint"):
        load_checkpoint(folder)
