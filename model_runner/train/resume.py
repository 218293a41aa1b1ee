"""The state from which a killed training goes on as if nothing had happened."""

from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import safetensors.torch
import torch
from pydantic import Field
from torch import Tensor

from model_runner.architecture.config import ModelConfig, TrainConfig
from model_runner.architecture.model import Transformer
from model_runner.checkpoint import load_weights, read_tensors
from model_runner.errors import RunnerError
from model_runner.files import file_digest, read_json, remove, write_atomically, write_json
from model_runner.record import Unfit, record_of

STATE = "resume.json"
MOMENTS = ("exp_avg", "exp_avg_sq")
"""AdamW's own names for the two running means it keeps of each parameter."""

Identity = dict[str, Any]
"""All that decides the outcome of a training: configs and digests. It may not change on the way."""

DEFAULTS: Identity = {
    one.name: one.default for one in (*fields(ModelConfig), *fields(TrainConfig)) if one.default is not MISSING
}
"""What an identity says that was written before a config had the setting."""

Machine = dict[str, Any]
"""What the last digits of the outcome depend on: threads, ranks, device and torch. It may change, and is recorded."""


@dataclass(frozen=True)
class Reached:
    """How far a training has come."""

    step: int = 0
    """Steps done."""
    seconds: float = 0.0
    """Spent in training."""
    computed_on: tuple[Machine, ...] = ()
    """Each machine with the first step done on it, under `from_step`."""


@dataclass(frozen=True, kw_only=True)
class State(Reached):
    """What resume.json says."""

    file: Annotated[str, Field(pattern=r"^resume-\d+\.safetensors$")]
    """Weights and moments, beside it."""
    digest: str
    """SHA-256 of that file."""
    identity: Identity


def save_state(
    folder: Path, model: Transformer, optimizer: torch.optim.AdamW, done: Reached, identity: Identity
) -> None:
    """Write weights and moments to a file of this step, then point resume.json to it.

    Killed anywhere in between, the folder still holds the state before.
    """
    file = folder / f"resume-{done.step}.safetensors"
    write_atomically(file, safetensors.torch.save(_tensors(model, optimizer)))
    state = State(**vars(done), file=file.name, digest=file_digest(file), identity=identity)
    write_json(folder / STATE, asdict(state))
    for earlier in set(folder.glob("resume-*.safetensors*")) - {file}:
        remove(earlier)


def load_state(folder: Path, model: Transformer, optimizer: torch.optim.AdamW, identity: Identity) -> Reached | None:
    """Put a saved state into model and optimizer; None where nothing was saved yet.

    Raises RunnerError when the state is damaged or belongs to another config or corpus.
    """
    if not (folder / STATE).is_file():
        return None
    state = _read_state(folder / STATE)
    refuse_change({**DEFAULTS, **state.identity}, identity, folder)
    file = folder / state.file
    if file_digest(file) != state.digest:
        raise RunnerError(f"{file} is damaged. Restore it from a copy, or delete {folder / STATE} to start again.")
    _put(read_tensors(file), model, optimizer, state.step, file)
    return Reached(state.step, state.seconds, state.computed_on)


def _read_state(file: Path) -> State:
    try:
        return record_of(State, read_json(file))
    except Unfit as error:
        raise RunnerError(f"{file} {error}. Restore it from a copy, or delete it to start again.") from error


def going_on(done: Reached, now: Machine) -> tuple[Reached, str]:
    """What is reached, with the stretch that begins now; and a sentence where it is computed in another way."""
    before = done.computed_on[-1] if done.computed_on else {}
    differing = [name for name, value in now.items() if before.get(name) != value]
    if not differing:
        return done, ""
    reached = replace(done, computed_on=(*done.computed_on, {"from_step": done.step + 1, **now}))
    if not before:
        return reached, ""
    said = ", ".join(f"{name} {before.get(name)} and not {now[name]}" for name in differing)
    return reached, (
        f"The first {done.step} steps were computed with {said}: the result will not be that of an uninterrupted "
        "training to the last digit. train.json records which steps were computed how.\n"
    )


def forget_state(folder: Path) -> None:
    """Remove what only an unfinished training needs."""
    remove(folder / STATE)
    for file in folder.glob("resume-*.safetensors*"):
        remove(file)


def refuse_change(before: Identity, now: Identity, folder: Path) -> None:
    """Raise RunnerError when a folder's training was begun with something else."""
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            raise RunnerError(
                f"{folder} was begun with {name} {before.get(name)!r} and is now asked for {now.get(name)!r}. "
                "Ask for what it was begun with, or give another folder."
            )


def _tensors(model: Transformer, optimizer: torch.optim.AdamW) -> dict[str, Tensor]:
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        for moment in MOMENTS:
            tensors[f"{moment}.{name}"] = optimizer.state[parameter][moment]
    return tensors


def _put(tensors: dict[str, Tensor], model: Transformer, optimizer: torch.optim.AdamW, step: int, file: Path) -> None:
    weights = {name.removeprefix("model."): value for name, value in tensors.items() if name.startswith("model.")}
    load_weights(model, weights, file)
    for name, parameter in model.named_parameters():
        optimizer.state[parameter] = {
            "step": torch.tensor(float(step), device=parameter.device),
            **{moment: tensors[f"{moment}.{name}"].to(parameter.device) for moment in MOMENTS},
        }
