from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

SHORTEST_TOKEN = 16
FEWEST_LETTERS = 6
PLACEHOLDERS = ("changeme", "change-me", "change_me", "client-secret", "client_secret", "your-", "placeholder")
"""What stands in examples where a secret should be."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MINUTES_OF_A_YEAR = 365 * 24 * 60


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
    hsts_seconds: int = Field(0, ge=0)
    """Tell browsers to come back by HTTPS only, for so long; 0 does not. Set it once HTTPS works for good."""
    request_log: bool = False
    """Write one JSON line a request to standard output: route, status, seconds, and never who or about what."""
    metrics_token: str = ""
    """Whoever shows this bearer's token may read /metrics; empty: nobody."""
    allowed_hosts: list[str] = ["127.0.0.1", "localhost", "[::1]", "testserver"]
    """Host names that the application answers to."""
    return_hosts: list[str] = []
    """Sites of panels to which raters may be led back when they are done, as ["app.prolific.com"]; none: to no site."""
    oidc_issuer: str = ""
    """The provider at which administrators may sign in by OpenID Connect, such as https://id.example.org; or none."""
    oidc_client_id: str = ""
    """As whom the provider knows this application."""
    oidc_client_secret: str = Field("", validate_default=True)
    """What the provider gave this application to show."""
    oidc_name: str = ""
    """What the provider is called on the sign-in page; empty: by its host."""
    lease_minutes: int = Field(30, ge=1, le=MINUTES_OF_A_YEAR)
    """How long a neuron waits for the rater who holds it before it is offered to another."""
    idle_minutes: int = Field(30, ge=1, le=MINUTES_OF_A_YEAR)
    """A stay of a rater ends after this long without a sign of life."""
    report_patience_seconds: float = Field(1, ge=0, le=3600)
    """A report that takes longer to compute is waited for on a page that says how far it is."""

    @field_validator("database_url")
    @classmethod
    def _an_address(cls, url: str) -> str:
        try:
            found = make_url(url)
        except ArgumentError:
            # Not quoted: it may hold a password.
            raise ValueError(
                "it must be like sqlite:///var/glance.db or postgresql+psycopg://user:password@host/name"
            ) from None
        if "uri" in found.query:  # the file could not be found, whose commits are waited for
            raise ValueError("SQLite takes a plain file, like sqlite:///var/glance.db, without uri=")
        return url

    @field_validator("metrics_token")
    @classmethod
    def _hard_to_guess(cls, token: str) -> str:
        if token and len(token) < SHORTEST_TOKEN:
            raise ValueError(f"it must be empty or at least {SHORTEST_TOKEN} characters that nobody can guess")
        return token

    @field_validator("oidc_issuer")
    @classmethod
    def _an_issuer(cls, issuer: str) -> str:
        parts = urlsplit(issuer)
        loopback = parts.scheme == "http" and parts.hostname in LOOPBACK
        if issuer and (
            not parts.hostname or not (loopback or parts.scheme == "https") or parts.query or parts.fragment
        ):
            raise ValueError("it must be the provider's address, such as https://id.example.org; over http only here")
        return issuer

    @field_validator("oidc_client_secret")
    @classmethod
    def _a_secret_of_its_own(cls, secret: str, others: ValidationInfo) -> str:
        """Checked last of the three, so that one sentence can say what is missing."""
        given = [bool(others.data.get(name)) for name in ("oidc_issuer", "oidc_client_id")] + [bool(secret)]
        if any(given) and not all(given):
            raise ValueError("GLANCE_OIDC_ISSUER, _CLIENT_ID and _CLIENT_SECRET belong together: set all three or none")
        plain = any(word in secret.lower() for word in PLACEHOLDERS) or len(set(secret)) < FEWEST_LETTERS
        if secret and (len(secret) < SHORTEST_TOKEN or plain):
            raise ValueError(
                f"it must be the provider's own, at least {SHORTEST_TOKEN} characters that nobody can guess"
            )
        return secret

    @field_validator("root_path")
    @classmethod
    def _a_prefix(cls, path: str) -> str:
        """However its slashes were typed: /glance, glance/ and / all say what they mean."""
        inner = path.strip("/")
        return f"/{inner}" if inner else ""

    @property
    def sign_in_name(self) -> str:
        """What the provider of sign-ins is called; empty where there is none."""
        return self.oidc_name or urlsplit(self.oidc_issuer).hostname or ""

    @property
    def lease(self) -> timedelta:
        return timedelta(minutes=self.lease_minutes)

    @property
    def idle(self) -> timedelta:
        return timedelta(minutes=self.idle_minutes)


@lru_cache
def get_settings() -> Settings:
    return Settings()
