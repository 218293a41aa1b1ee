"""TransformerLens's config and ours: what is the same said otherwise, and what cannot be said."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from model_runner.architecture.config import MLPName, ModelConfig, PositionName
from model_runner.architecture.mlp import NORM_EPS
from model_runner.errors import RunnerError
from model_runner.record import Unfit, record_of

CONFIG = "config.json"
ACTIVATIONS: dict[str, MLPName] = {"gelu": "gelu", "solu": "solu", "solu_ln": "solu_ln"}
"""Their names and ours. Their "gelu" is exact; "gelu_new", "gelu_fast" and others are other functions."""
POSITIONS: dict[str, PositionName] = {"standard": "learned", "rotary": "rotary"}
SAID = ("vocab_size", "context", "layers", "heads", "width", "mlp", "positions", "rotary_base")
"""Fields of our config that theirs can say; every other must have its default."""


def is_lens_config(values: Mapping[str, Any]) -> bool:
    """Whether a config.json is one of TransformerLens's."""
    return {"n_layers", "d_model", "n_heads", "d_vocab"} <= values.keys()


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """The numbers of a TransformerLens config, under its names."""

    n_layers: int
    d_model: int
    n_heads: int
    d_head: int
    d_mlp: int
    n_ctx: int
    d_vocab: int
    rotary_base: float = 10_000.0


def config_from_lens(values: Mapping[str, Any]) -> ModelConfig:
    """Our config of a TransformerLens config. Raises RunnerError for what our model cannot be."""
    positions = _positions(values)
    shape = _shape(values, positions)
    _require(values, "act_fn", tuple(ACTIVATIONS))
    _require({"normalization": _normalization(values)}, "normalization", ("LN", "LNPre"))
    config = ModelConfig(
        vocab_size=shape.d_vocab,
        context=shape.n_ctx,
        layers=shape.n_layers,
        heads=shape.n_heads,
        width=shape.d_model,
        mlp=ACTIVATIONS[values["act_fn"]],
        positions=positions,
        rotary_base=shape.rotary_base,
    )
    _require({"d_mlp": shape.d_mlp}, "d_mlp", (config.hidden,))
    _require({"d_head": shape.d_head}, "d_head", (config.head_width,))
    _require({"eps": values.get("eps", NORM_EPS)}, "eps", (NORM_EPS,))
    for name in ("attn_only", "final_rms", "parallel_attn_mlp", "gated_mlp", "use_local_attn"):
        _require({name: bool(values.get(name))}, name, (False,))
    if positions == "rotary":
        _require({"rotary_dim": values.get("rotary_dim")}, "rotary_dim", (config.head_width,))
        _require(
            {"rotary_adjacent_pairs": bool(values.get("rotary_adjacent_pairs"))}, "rotary_adjacent_pairs", (False,)
        )
    return config


def _shape(values: Mapping[str, Any], positions: PositionName) -> _Shape:
    """Without rotary positions their base says nothing."""
    known = {field.name for field in fields(_Shape)} - (set() if positions == "rotary" else {"rotary_base"})
    try:
        return record_of(_Shape, {name: value for name, value in values.items() if name in known})
    except Unfit as error:
        raise RunnerError(f"{CONFIG} {error}. Give the config that TransformerLens wrote.") from error


def _positions(values: Mapping[str, Any]) -> PositionName:
    """The public models say `shortformer_pos`, TransformerLens itself `positional_embedding_type`."""
    named = values.get("positional_embedding_type", "shortformer" if values.get("shortformer_pos") else "standard")
    _require({"positional_embedding_type": named}, "positional_embedding_type", tuple(POSITIONS))
    return POSITIONS[named]


def _normalization(values: Mapping[str, Any]) -> Any:
    return values.get("normalization", values.get("normalization_type"))


def _require(values: Mapping[str, Any], name: str, known: tuple[Any, ...]) -> None:
    if values.get(name) not in known:
        wanted = " or ".join(map(repr, known))
        raise RunnerError(f"{CONFIG} sets {name} to {values.get(name)!r}; only {wanted} can be imported.")


def lens_config(config: ModelConfig) -> dict[str, Any]:
    """The TransformerLens config of ours; every key is one of its own.

    Raises RunnerError for what TransformerLens has no setting for.
    """
    _refuse_unsayable(config)
    theirs = {ours: theirs for theirs, ours in ACTIVATIONS.items()}
    values: dict[str, Any] = {
        "n_layers": config.layers,
        "d_model": config.width,
        "d_mlp": config.hidden,
        "d_head": config.head_width,
        "n_heads": config.heads,
        "n_ctx": config.context,
        "d_vocab": config.vocab_size,
        "act_fn": theirs[config.mlp],
        "normalization_type": "LN",
        "eps": NORM_EPS,
        "attn_only": False,
        "final_rms": False,
        "positional_embedding_type": "standard",
    }
    if config.positions == "rotary":
        rotary = {"rotary_dim": config.head_width, "rotary_base": config.rotary_base, "rotary_adjacent_pairs": False}
        values |= {"positional_embedding_type": "rotary", **rotary}
    return values


def _refuse_unsayable(config: ModelConfig) -> None:
    if config.mlp not in ACTIVATIONS.values():
        raise RunnerError(
            f"TransformerLens has no MLP like {config.mlp}; only {', '.join(ACTIVATIONS.values())} can be exported."
        )
    for field in fields(ModelConfig):
        value = getattr(config, field.name)
        if field.name not in SAID and value != field.default:
            raise RunnerError(f"TransformerLens has no setting for {field.name} = {value!r}; it cannot be exported.")
