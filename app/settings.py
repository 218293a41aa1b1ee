from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from pydantic import field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

SHORTEST_TOKEN = 16


class Settings(BaseSettings):
    """Every knob of the web application, read once from the environment (prefix GLANCE_)."""

    model_config = SettingsConfigDict(env_prefix="GLANCE_", env_file=".env", extra="ignore")

    database_url: str = "sqlite:///var/glance.db"
    """SQLite by file, or postgresql+psycopg://user:password@host/name."""
    key_file: Path = Path("var/key")
    """Encrypts which item is which neuron. Lies outside the database and is backed up apart from it."""
    runs_dir: Path = Path("var/runs")
    """Where an administrator picks the run folders of a study."""
    root_path: str = ""
    """The prefix under which a proxy serves the application, such as /glance."""
    secure_cookies: bool = False
    """Send cookies over HTTPS only. Switch it on wherever the application is reached through HTTPS."""
    hsts_seconds: int = 0
    """Tell browsers to come back by HTTPS only, for so long; 0 does not. Set it once HTTPS works for good."""
    request_log: bool = False
    """Write one JSON line a request to standard output: route, status, seconds, and never who or about what."""
    metrics_token: str = ""
    """Whoever shows this bearer's token may read /metrics; empty: nobody."""
    allowed_hosts: list[str] = ["127.0.0.1", "localhost", "[::1]", "testserver"]
    """Host names that the application answers to."""
    return_hosts: list[str] = []
    """Sites of panels to which raters may be led back when they are done, as ["app.prolific.com"]; none: to no site."""
    lease_minutes: int = 30
    """How long a neuron waits for the rater who holds it before it is offered to another."""
    idle_minutes: int = 30
    """A stay of a rater ends after this long without a sign of life."""

    report_patience_seconds: float = 1
    """A report that takes longer to compute is waited for on a page that says how far it is."""

    @field_validator("database_url")
    @classmethod
    def _an_address(cls, url: str) -> str:
        try:
            make_url(url)
        except ArgumentError:
            # Not quoted: it may hold a password.
            raise ValueError(
                "it must be like sqlite:///var/glance.db or postgresql+psycopg://user:password@host/name"
            ) from None
        return url

    @field_validator("metrics_token")
    @classmethod
    def _hard_to_guess(cls, token: str) -> str:
        if token and len(token) < SHORTEST_TOKEN:
            raise ValueError(f"it must be empty or at least {SHORTEST_TOKEN} characters that nobody can guess")
        return token

    @field_validator("root_path")
    @classmethod
    def _a_prefix(cls, path: str) -> str:
        """However its slashes were typed: /glance, glance/ and / all say what they mean."""
        inner = path.strip("/")
        return f"/{inner}" if inner else ""

    @property
    def lease(self) -> timedelta:
        return timedelta(minutes=self.lease_minutes)

    @property
    def idle(self) -> timedelta:
        return timedelta(minutes=self.idle_minutes)


@lru_cache
def get_settings() -> Settings:
    return Settings()
