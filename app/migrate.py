"""The database's schema: brought up to date by migrations only."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine
from sqlalchemy.engine import make_url

ROOT = Path(__file__).parent.parent


def configuration(database_url: str) -> Config:
    config = Config(ROOT / "alembic.ini")
    config.attributes["database_url"] = database_url
    return config


def upgrade(database_url: str) -> None:
    url = make_url(database_url)
    if url.get_backend_name() == "sqlite" and url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    command.upgrade(configuration(database_url), "head")


def is_current(engine: Engine) -> bool:
    """Whether the database stands at the newest migration."""
    newest = ScriptDirectory.from_config(Config(ROOT / "alembic.ini")).get_current_head()
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision() == newest
