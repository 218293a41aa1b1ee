"""The parts of `make check` that are no linter: migrations agree with the models, and every template compiles."""

import sys
import tempfile
from pathlib import Path

from alembic import command

from app.store.migrate import configuration, upgrade
from app.web.pages import environment


def check_migrations() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'check.db'}"
        upgrade(url)
        command.check(configuration(url))


def check_templates() -> int:
    names = environment.list_templates(extensions=["html"])
    for name in names:
        environment.get_template(name)
    return len(names)


if __name__ == "__main__":
    check_migrations()
    sys.stdout.write(f"{check_templates()} templates compile; models and migrations agree.\n")
