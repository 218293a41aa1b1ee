"""The database's schema: brought up to date by migrations only."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine
from sqlalchemy.engine import make_url

from app.errors import Conflict

ROOT = Path(__file__).parents[2]


def configuration(database_url: str) -> Config:
    config = Config(ROOT / "alembic.ini")
    config.attributes["database_url"] = database_url
    return config


def upgrade(database_url: str) -> None:
    url = make_url(database_url)
    if url.get_backend_name() == "sqlite" and url.database:
        _make_folder(Path(url.database).parent)
    command.upgrade(configuration(database_url), "head")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Conflict(
            f"The folder {folder} of the database could not be made: {error.strerror}. Set GLANCE_DATABASE_URL."
        ) from None


def is_current(engine: Engine) -> bool:
    """Whether the database stands at the newest migration."""
    newest = ScriptDirectory.from_config(Config(ROOT / "alembic.ini")).get_current_head()
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision() == newest
