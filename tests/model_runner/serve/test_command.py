"""`glance-runner serve`."""

import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from model_runner.cli import main
from model_runner.corpus.store import Corpus
from model_runner.errors import RunnerError
from model_runner.serve.serve import create_server, create_service
from tests.corpora import make_corpus
from tests.model_runner.serve.service import wait_until


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
