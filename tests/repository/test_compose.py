"""No container engine runs where these tests do: what can be checked without one is that the file, the images and
the commands agree."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.cli import parser as glance
from app.settings import Settings
from model_runner.cli import parser as runner

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
UNSET = re.compile(r"\$\{GLANCE_\w+:-(.*)\}")
"""A variable of whoever starts it, and what it is unless set."""
OURS = [name for name, service in COMPOSE["services"].items() if "build" in service]


def test_it_holds_the_services_that_the_readme_names() -> None:
    assert {"web", "db", "migrate", "runner", "models"} == set(COMPOSE["services"])
    assert COMPOSE["services"]["runner"]["profiles"] == ["runner"]
    assert COMPOSE["services"]["models"]["profiles"] == ["models"]


@pytest.mark.parametrize("name", OURS)
def test_every_image_is_a_stage_of_the_dockerfile(name: str) -> None:
    stages = re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE, re.MULTILINE)
    assert COMPOSE["services"][name]["build"]["target"] in stages


@pytest.mark.parametrize("name", OURS)
def test_every_command_is_understood(name: str) -> None:
    service = COMPOSE["services"][name]
    if service["build"]["target"] == "web":
        assert service["command"][0] == "glance"
        assert glance().parse_args(service["command"][1:])
    elif service["command"] == ["--help"]:
        with pytest.raises(SystemExit, match="0"):
            runner().parse_args(service["command"])
    else:
        assert runner().parse_args(service["command"])


def test_every_setting_is_handed_on_with_what_it_is_unless_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in COMPOSE["services"]["web"]["environment"].items():
        monkeypatch.setenv(name, UNSET.sub(r"\1", value))
    given = Settings(_env_file=None)
    assert given.model_fields_set == set(Settings.model_fields)
    its_own = {"database_url", "key_file", "runs_dir", "allowed_hosts"}
    assert given.model_dump(exclude=its_own) == Settings.model_construct().model_dump(exclude=its_own)


def test_the_database_and_the_programs_that_back_it_up_are_of_one_version() -> None:
    (version,) = re.findall(r"postgresql-client-(\d+)", DOCKERFILE)
    assert COMPOSE["services"]["db"]["image"] == f"postgres:{version}"


def test_every_volume_is_declared_and_every_copied_folder_exists() -> None:
    for service in COMPOSE["services"].values():
        for volume in service.get("volumes", []):
            assert volume.split(":")[0] in COMPOSE["volumes"]
    for source in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE):
        assert all((ROOT / name).exists() for name in source.split())


def test_nothing_is_published_beyond_the_machine() -> None:
    for service in COMPOSE["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
