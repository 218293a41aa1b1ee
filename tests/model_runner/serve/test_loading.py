"""A model that cannot be loaded ends the service, whatever the reason is."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from model_runner.cli import main
from model_runner.serve import serve


def test_too_little_memory_for_a_model_ends_the_command(
    folders: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_large(*_: object) -> None:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")

    monkeypatch.setattr(serve, "load_served", too_large)
    with ThreadPoolExecutor(1) as pool:  # another test's event loop may be running in this thread
        assert pool.submit(main, ["serve", str(folders[0]), "--port", "0"]).result(timeout=60) == 2
    assert "There is not enough memory for this" in capsys.readouterr().err
