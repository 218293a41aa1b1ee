"""The model service in a thread, and questions to it."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import torch

from model_runner.checkpoint import Checkpoint
from model_runner.corpus.store import Corpus
from model_runner.serve.serve import create_server, create_service
from model_runner.tokenizer import load_tokenizer

TEXT = "Take three eggs — “and” é 漢."
Reply = httpx2.Response


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


def ask(client: httpx2.Client, **given: Any) -> Reply:
    body = json.dumps({"model": "legible", "text": TEXT, "neurons": [[1, 5]], **given})
    return client.post("/activations", content=body, headers={"Content-Type": "application/json"})


def reference(checkpoint: Checkpoint, corpus: Corpus, text: str) -> torch.Tensor:
    ids = load_tokenizer(corpus.folder / "tokenizer.json").encode(text, add_special_tokens=False).ids
    return torch.tensor([[corpus.info.bos, *ids]])
