"""A model by its name on the Hugging Face hub, from a hub on the loopback that speaks as the library expects."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from model_runner.checkpoint import load_checkpoint
from model_runner.foreign.command import import_model
from model_runner.foreign.wishes import Wishes
from tests.corpora import make_corpus
from tests.model_runner.lens_models import public_config, random_state, save_state
from tests.texts import CODE, PROSE

pytest.importorskip("huggingface_hub")
NAME, COMMIT = "NeelNanda/SoLU_1L512W_C4_Code", "a" * 40


@contextmanager
def hub(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The hub's address, and what was asked of it: one repository, whose files are those of the folder."""
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self, *, body: bool) -> None:
            path = self.path.split("?")[0]
            asked.append(path)
            content = _content(folder, path)
            self.send_response(404 if content is None else 200)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha256(content or b"").hexdigest()}"')
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            if body:
                self.wfile.write(content or b"")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def _content(folder: Path, path: str) -> bytes | None:
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    if path.startswith(f"/api/models/{NAME}/tree/"):
        listed = [{"type": "file", "oid": COMMIT, "size": len(data), "path": name} for name, data in files.items()]
        return json.dumps(listed).encode()
    if path.startswith(f"/api/models/{NAME}"):
        siblings = [{"rfilename": name} for name in files]
        return json.dumps({"id": NAME, "sha": COMMIT, "private": False, "siblings": siblings}).encode()
    return files.get(path.rsplit("/", 1)[-1]) if path.startswith(f"/{NAME}/resolve/") else None


def test_a_model_is_imported_by_its_name(tmp_path: Path) -> None:
    tokenizer = make_corpus(tmp_path / "corpus", [*PROSE, *CODE], shares={"collect": 1.0}).folder / "tokenizer.json"
    folder = save_state(tmp_path / "repository", public_config(), random_state(), tokenizer)
    (folder / "README.md").write_text("nothing of this is needed")
    with hub(folder) as (address, asked):
        command = [sys.executable, "-m", "model_runner.cli", "import", NAME, "--out", str(tmp_path / "model")]
        environment = os.environ | {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "0"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    import_model(str(folder), tmp_path / "from-folder", Wishes())
    assert load_checkpoint(tmp_path / "model").digest == load_checkpoint(tmp_path / "from-folder").digest
    assert any(path.endswith("model_final.pth") for path in asked)
    assert not any(path.endswith("README.md") for path in asked)
