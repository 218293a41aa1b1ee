"""Both commands under a locale that is not UTF-8."""

import os
import subprocess
import sys

import pytest

NAME = 'Ünïcödé 研究 "x"'
IN_C = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
COMMANDS = {
    "glance": ("app.cli", "verify", NAME),
    "glance-runner": ("model_runner.cli", "evaluate", "--corpus", "none", "--checkpoint", NAME),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_names_are_utf8_whatever_the_locale(command: str) -> None:
    asked = [sys.executable, "-m", *COMMANDS[command]]
    done = subprocess.run(asked, capture_output=True, check=False, env={**os.environ, **IN_C})
    said = done.stderr.decode()
    assert done.returncode == 2, said
    assert NAME in said
    assert "Traceback" not in said
