"""The model service, asked over real HTTP."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
import torch

from model_runner.checkpoint import load_checkpoint, save_checkpoint
from model_runner.corpus.store import Corpus
from model_runner.serve import serve
from model_runner.serve.answer import answer
from model_runner.serve.asked import MOST_BYTES, MOST_NEURONS
from tests.model_runner.serve.service import TEXT, ask, reference, serving, wait_until


@pytest.mark.parametrize("number", [0, 1])
def test_activations_are_the_models_and_tokens_have_their_bytes(
    client: httpx2.Client, folders: list[Path], corpus: Corpus, number: int
) -> None:
    checkpoint = load_checkpoint(folders[number])
    asked = [[1, 5], [0, 63], [1, 0]]
    said = ask(client, model=folders[number].name, neurons=asked).json()
    read = reference(checkpoint, corpus, TEXT)
    with torch.no_grad():
        acts = list(checkpoint.model.activations(read))
        for (layer, index), found in zip(asked, said["neurons"], strict=True):
            assert (found["layer"], found["index"]) == (layer, index)
            assert found["activations"] == pytest.approx(acts[layer][0, :, index].tolist(), rel=1e-4, abs=1e-6)
            norm = checkpoint.model.norms[layer]
            assert ("after_norm" in found) == (norm is not None)
            if norm is not None:
                after = norm(acts[layer])[0, :, index].tolist()
                assert found["after_norm"] == pytest.approx(after, rel=1e-4, abs=1e-5)
    tokens = said["tokens"]
    assert [token["id"] for token in tokens] == read[0].tolist()
    assert (tokens[0]["start"], tokens[0]["end"]) == (0, 0)
    pieces = [TEXT.encode()[token["start"] : token["end"]] for token in tokens]
    assert pieces[1:] == [corpus.token_bytes(token["id"]) for token in tokens[1:]]
    assert b"".join(pieces) == TEXT.encode()
    assert said["digest"] == checkpoint.digest
    assert said["activation_point"] == ["only", "before_norm"][number]


def test_health_readiness_and_the_models(client: httpx2.Client, corpus: Corpus) -> None:
    assert client.get("/health").json() == {"healthy": True}
    assert client.get("/ready").json() == {"ready": True, "detail": "2 of 2 models are loaded."}
    models = client.get("/models").json()
    assert [(m["name"], m["condition"], m["layers"], m["neurons"], m["tokens"]) for m in models] == [
        ("plain", "gelu", 2, 64, 63),
        ("legible", "solu_ln", 2, 64, 63),
    ]
    assert models[0]["tokenizer_digest"] == corpus.info.tokenizer_digest


def test_tokens_alone_may_be_asked_for(client: httpx2.Client) -> None:
    said = ask(client, neurons=[]).json()
    assert said["neurons"] == []
    assert said["tokens"][-1]["end"] == len(TEXT.encode())


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({"model": "other"}, 404, "No model 'other' is served; there are plain, legible."),
        ({"model": None}, 422, 'say which in "model": plain, legible'),
        ({"model": ["plain"]}, 404, "No model"),
        ({"text": ""}, 422, "The text is empty"),
        ({"text": 5}, 422, "must be a text"),
        ({"text": "\ud800"}, 422, "surrogate"),
        ({"text": "word " * 400}, 422, "tokens and legible reads 63 at a time. Shorten it."),
        ({"neurons": [[2, 0]]}, 422, "layers 0 to 1 of neurons 0 to 63, and no neuron 0 in layer 2"),
        ({"neurons": [[0, -1]]}, 422, "no neuron -1"),
        ({"neurons": [[0, 10**30]]}, 422, "no neuron 1000"),
        ({"neurons": [[0, 1.0]]}, 422, "pairs"),
        ({"neurons": [[True, 1]]}, 422, "pairs"),
        ({"neurons": "all"}, 422, "pairs"),
        ({"neurons": [[0, 0]] * (MOST_NEURONS + 1)}, 422, "257 neurons are asked for; 256"),
        ({"nonsense": 1}, 400, "There is no field 'nonsense'"),
        ({"text": "a" * MOST_BYTES}, 413, "longer than 65,536 bytes"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_sentence(
    client: httpx2.Client, given: dict[str, Any], status: int, said: str
) -> None:
    reply = ask(client, **given)
    assert (reply.status_code, said in reply.json()["detail"]) == (status, True), reply.text
    assert ask(client).status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff", b"[" * 50_000, b'{"text": NaN'])
def test_a_body_that_is_no_object_is_refused(client: httpx2.Client, body: bytes) -> None:
    reply = client.post("/activations", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400, reply.text


def test_a_body_without_end_is_cut_off(client: httpx2.Client) -> None:
    endless = (b"x" * 10_000 for _ in range(100))
    reply = client.post("/activations", content=endless, headers={"Content-Type": "application/json"})
    assert reply.status_code == 413


def test_another_page_cannot_ask(client: httpx2.Client) -> None:
    """Neither with a form's type of content nor under a name that somebody pointed at this machine."""
    assert client.post("/activations", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415
    assert client.get("/models", headers={"Host": "elsewhere.example"}).status_code == 400
    assert "access-control-allow-origin" not in client.options("/activations").headers
    assert client.get("/activations").status_code == 405


def test_broken_numbers_are_null(folders: list[Path], corpus: Corpus, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(folders[0])
    checkpoint.model.blocks[0].mlp.up.bias[3] = torch.nan  # type: ignore[union-attr, index, operator]
    save_checkpoint(tmp_path / "broken", checkpoint.model, checkpoint.train)
    with serving([tmp_path / "broken"], corpus) as client:
        wait_until(lambda: client.get("/ready").status_code == 200)
        (found,) = client.post("/activations", json={"text": "ab", "neurons": [[0, 3]]}).json()["neurons"]
    assert set(found["activations"]) == {None}


def test_a_full_line_sends_away_and_a_slow_one_is_said(
    folders: list[Path], corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def slowly(*given: Any) -> dict[str, Any]:
        gate.wait(30)
        return answer(*given)

    monkeypatch.setattr(serve, "answer", slowly)
    with serving(folders, corpus, waiting=2, patience_seconds=1.5) as client, ThreadPoolExecutor() as people:
        wait_until(lambda: client.get("/ready").status_code == 200)
        first = [people.submit(ask, client) for _ in range(2)]
        time.sleep(0.5)
        turned_away = ask(client)
        assert turned_away.status_code == 429
        assert turned_away.headers["Retry-After"] == "1"
        assert "2 requests wait already" in turned_away.json()["detail"]
        assert client.get("/health").status_code == 200, "a busy model does not make the service look dead"
        slow = [one.result() for one in first]
        assert {reply.status_code for reply in slow} == {503}
        assert "did not answer within 1.5 s" in slow[0].json()["detail"]
        gate.set()
        wait_until(lambda: ask(client).status_code == 200)


def test_many_at_once_are_all_answered_alike(client: httpx2.Client) -> None:
    with ThreadPoolExecutor(8) as people:
        replies = list(people.map(lambda _: ask(client).json(), range(12)))
    assert all(reply == replies[0] for reply in replies)


def test_before_the_models_are_loaded_it_is_healthy_and_not_ready(
    folders: list[Path], corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    real = serve.load_served

    def slowly(*given: Any) -> Any:
        gate.wait(30)
        return real(*given)

    monkeypatch.setattr(serve, "load_served", slowly)
    with serving(folders, corpus) as client:
        assert client.get("/health").status_code == 200
        ready = client.get("/ready")
        assert (ready.status_code, ready.json()["detail"]) == (503, "0 of 2 models are loaded.")
        refused = ask(client)
        assert (refused.status_code, "still being loaded" in refused.text) == (503, True)
        gate.set()
        wait_until(lambda: client.get("/ready").status_code == 200)
        assert ask(client).status_code == 200
