"""The same collection as TransformerLens's users write it: run with a cache, put the caches together, take the top.

Read for its interface, not copied: TransformerLens 3.9.0, whose `hook_mid` is SoLU before its LayerNorm.
"""

# Shape suffixes: C contexts, T tokens of a context, F units of all layers, N documents, K kept.
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_runner.architecture.model import Transformer
from model_runner.collect.collect import cluster_of
from model_runner.collect.contexts import Block
from model_runner.collect.top import TopLists
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.foreign.lens_config import lens_config
from model_runner.foreign.lens_layout import to_lens

NEEDED = "Measuring against TransformerLens needs it: pip install -e '.[peers]'."


def require_lens() -> None:
    """Raise RunnerError where TransformerLens is not installed."""
    if find_spec("transformer_lens") is None:
        raise RunnerError(NEEDED)


def lens_model(model: Transformer) -> Any:
    """A solu_ln model of ours as a HookedTransformer with the same weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library warns that this interface of its is the old one
        from transformer_lens import HookedTransformer, HookedTransformerConfig

        theirs = HookedTransformer(HookedTransformerConfig(**lens_config(model.config), device="cpu"))
    state = to_lens(model.state_dict(), model.config)
    theirs.load_state_dict({**theirs.state_dict(), **state})
    return theirs.eval().requires_grad_(False)


@torch.inference_mode()
def cached(theirs: Any, tokens_CT: Tensor, logits: bool = True) -> Tensor:
    """(C, T, F) activations of a block as the cache has them; without logits the model stops after its last layer."""
    names = [f"blocks.{layer}.mlp.hook_mid" for layer in range(theirs.cfg.n_layers)]
    stop = {} if logits else {"stop_at_layer": theirs.cfg.n_layers}
    _, cache = theirs.run_with_cache(tokens_CT, names_filter=names, **stop)
    return torch.cat([cache[name] for name in names], dim=-1)


@torch.inference_mode()
def top_of(parts: Sequence[Tensor], blocks: Sequence[Block], documents: int, kept: int) -> tuple[Tensor, Tensor]:
    """Put the parts together; return them (C, T, F) and the K highest documents' values (K, F)."""
    acts_CTF = torch.cat(list(parts))
    rankable_CT = torch.from_numpy(np.concatenate([block.rankable_BT for block in blocks]))
    document_C = torch.from_numpy(np.concatenate([block.document_B for block in blocks]))
    acts_CTF.masked_fill_(~rankable_CT[:, :, None], -torch.inf)
    best_CF = acts_CTF.amax(dim=1)
    best_NF = torch.full((documents, best_CF.shape[1]), -torch.inf)
    real_C = document_C >= 0
    index_CF = document_C[real_C][:, None].expand(-1, best_CF.shape[1])
    best_NF.scatter_reduce_(0, index_CF, best_CF[real_C], "amax")
    return acts_CTF, best_NF.topk(kept, dim=0).values


def differing(
    lists: Sequence[TopLists], acts_CTF: NDArray[np.float32], blocks: Sequence[Block], corpus: Corpus
) -> tuple[int, int]:
    """How many of our lists are not those that cached activations give, and how many differ in their order alone.

    Values may differ by float32 rounding, since the two compute with products of other shapes. A list is the same
    when its values are, and when each of its places has its value in the cache; equal up to rounding, two
    documents may stand in either order.
    """
    document_C = np.concatenate([block.document_B for block in blocks])
    start_C = np.concatenate([block.start_B for block in blocks])
    place_of = {where: place for place, where in enumerate(zip(document_C.tolist(), start_C.tolist(), strict=True))}
    wrong = reordered = unit = 0
    for layer in lists:
        for row in range(len(layer.value_FK)):
            values_K, documents_K = _wanted(acts_CTF[:, :, unit], document_C, start_C, corpus, layer.value_FK.shape[1])
            contexts = zip(layer.document_FK[row].tolist(), layer.start_FK[row].tolist(), strict=True)
            there_K = acts_CTF[[place_of[where] for where in contexts], layer.peak_FK[row], unit]
            same = _close(layer.value_FK[row], values_K) and _close(layer.value_FK[row], there_K)
            wrong += not same
            reordered += same and bool((layer.document_FK[row] != documents_K).any())
            unit += 1
    return wrong, reordered


def _wanted(
    acts_CT: NDArray[np.float32],
    document_C: NDArray[np.int64],
    start_C: NDArray[np.int64],
    corpus: Corpus,
    kept: int,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """One unit's list by going down all contexts: one a document, one a cluster of near-duplicates."""
    peak_C, chosen = acts_CT.argmax(axis=1), []
    best_C = acts_CT[np.arange(len(acts_CT)), peak_C]
    documents, clusters = set(), set()
    for context in np.lexsort((start_C, document_C, -best_C)).tolist():
        document = int(document_C[context])
        if document in documents or document < 0:
            continue
        documents.add(document)
        position = np.array([start_C[context] + peak_C[context] - 1])
        cluster = int(cluster_of(corpus, document, position)[0])
        if cluster not in clusters:
            clusters.add(cluster)
            chosen.append(context)
        if len(chosen) == kept:
            break
    return best_C[chosen], document_C[chosen]


def _close(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-4, atol=1e-6))
