"""The model service, asked over real HTTP."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import torch

from model_runner import serve
from model_runner.answer import answer
from model_runner.asked import MOST_BYTES, MOST_NEURONS
from model_runner.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.serve import create_server, create_service
from model_runner.tokenizer import load_tokenizer
from tests.corpora import make_corpus
from tests.model_runner.models import record, scrambled, small_config, small_corpus

TEXT = "Take three eggs — “and” é 漢."
Reply = httpx2.Response


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("corpus") / "c")


@pytest.fixture(scope="module")
def folders(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two arms, the second with a norm after its activations and no tokenizer beside it."""
    parent = tmp_path_factory.mktemp("models")
    for name, mlp in (("plain", "gelu"), ("legible", "solu_ln")):
        config = small_config(mlp, context=64, vocab_size=corpus.info.vocab_size)  # type: ignore[arg-type]
        save_checkpoint(parent / name, scrambled(config), record(tokenizer_digest=corpus.info.tokenizer_digest))
    (parent / "plain" / "tokenizer.json").write_bytes((corpus.folder / "tokenizer.json").read_bytes())
    return [parent / "plain", parent / "legible"]


@contextmanager
def serving(folders: list[Path], corpus: Corpus, **options: Any) -> Iterator[httpx2.Client]:
    """A running service and a client of it."""
    server = create_server(create_service(folders, corpus.folder / "tokenizer.json", **options), port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()


def wait_until(true: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def client(folders: list[Path], corpus: Corpus) -> Iterator[httpx2.Client]:
    with serving(folders, corpus) as client:
        wait_until(lambda: client.get("/ready").status_code == 200)
        yield client


def ask(client: httpx2.Client, **given: Any) -> Reply:
    body = json.dumps({"model": "legible", "text": TEXT, "neurons": [[1, 5]], **given})
    return client.post("/activations", content=body, headers={"Content-Type": "application/json"})


def reference(checkpoint: Checkpoint, corpus: Corpus, text: str) -> torch.Tensor:
    ids = load_tokenizer(corpus.folder / "tokenizer.json").encode(text, add_special_tokens=False).ids
    return torch.tensor([[corpus.info.bos, *ids]])


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


# ---- the command ----------------------------------------------------------------------------------


def test_the_command_serves_on_loopback_and_ends_when_told(folders: list[Path]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "model_runner.cli",
        "serve",
        str(folders[0]),
        "--port",
        str(port),
        "--threads",
        "1",
    ]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, text=True)
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}") as client:
            wait_until(lambda: process.poll() is not None or _is_ready(client))
            reply = client.post("/activations", json={"text": "a", "neurons": [[0, 0]]})
            assert reply.status_code == 200
    finally:
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
    assert f"http://127.0.0.1:{port}" in said


def _is_ready(client: httpx2.Client) -> bool:
    try:
        return client.get("/ready").status_code == 200
    except httpx2.ConnectError:
        return False


def serve_in_a_thread(*arguments: str) -> int:
    """The command's answer. Another test's event loop may be running in this thread, and there can be but one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(main, ["serve", *arguments]).result()


def test_a_checkpoint_that_cannot_be_loaded_ends_the_command(
    folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert serve_in_a_thread(str(tmp_path / "none"), "--port", "0") == 2
    assert "holds no tokenizer.json" in capsys.readouterr().err
    other = make_corpus(tmp_path / "other", ["quite another text"] * 3).folder / "tokenizer.json"
    assert serve_in_a_thread(str(folders[1]), "--port", "0", "--tokenizer", str(other)) == 2
    assert "was trained with tokenizer" in capsys.readouterr().err


def test_a_taken_port_is_said(folders: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert serve_in_a_thread(str(folders[0]), "--port", str(taken.getsockname()[1])) == 2
    assert "could not be had. Choose another --port." in capsys.readouterr().err


def test_two_folders_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="have one name"):
        create_service([tmp_path / "a" / "model", tmp_path / "b" / "model"])


def test_it_listens_on_the_loopback_interface_alone(folders: list[Path], corpus: Corpus) -> None:
    server = create_server(create_service(folders, corpus.folder / "tokenizer.json"), port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started)
        addresses = [each.getsockname()[0] for running in server.servers for each in running.sockets]
    finally:
        server.should_exit = True
        thread.join()
    assert addresses == ["127.0.0.1"]


@pytest.mark.parametrize(
    ("option", "value"), [("--port", "65536"), ("--port", "-1"), ("--waiting", "0"), ("--threads", "0")]
)
def test_numbers_that_make_no_sense_are_refused(
    option: str, value: str, folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert serve_in_a_thread(str(folders[0]), option, value) == 2
    assert f"{option} is {int(value):,}; it must be at" in capsys.readouterr().err
