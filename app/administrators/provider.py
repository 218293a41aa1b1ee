"""Signing in at a provider by OpenID Connect: where the browser is sent, and who comes back.

What ties the two ends together (state, nonce, PKCE's verifier) is derived from a random token that only the browser
holds, in a cookie. So nothing is stored meanwhile, any worker can answer, and no other browser can end what one began.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from app.errors import Conflict, Refused, Unreachable
from app.settings import Settings
from app.web.security import new_token
from app.words.language import N_

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import OAuth2Client

Answer = TypeVar("Answer")
SIGNED_WITH = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Never “none”, and never a shared secret."""
WAIT_SECONDS = 10
LEEWAY_SECONDS = 60
"""By so much the provider's clock may differ."""
NOT_BEGUN_HERE = N_("This sign-in was not begun in this browser, or it took too long. Begin again on the sign-in page.")
NO_ANSWER = N_("The provider of sign-ins did not answer as it should. Try again later, or sign in with your password.")


class Person(NamedTuple):
    """Whom the provider vouches for."""

    subject: str
    """The provider and its own name for the person, which it never gives to another."""
    email: str | None
    """In small letters; None where the provider has not verified it."""


class Endpoints(NamedTuple):
    """Where a provider says its parts are."""

    authorization: str
    token: str
    keys: str
    userinfo: str | None
    authentication: list[str]
    """How a client may show its secret."""


def insist_on_library(settings: Settings) -> None:
    """Raises Conflict where a provider is set and the library that speaks to it is not there."""
    if settings.oidc_issuer and find_spec("authlib") is None:
        raise Conflict(
            "GLANCE_OIDC_ISSUER is set, and the library for it is missing. Run, in Glance's folder: "
            "pip install -c constraints.txt -e '.[oidc]'"
        )


def leave_for(settings: Settings, return_address: str) -> tuple[str, str]:
    """Where the browser is sent, and the token that it keeps meanwhile. Raises Unreachable."""
    kept = new_token()
    with _client(settings, return_address) as client:
        found = _asked(lambda: _endpoints(client, settings))
        to, _ = client.create_authorization_url(
            found.authorization,
            state=derived(kept, "state"), nonce=derived(kept, "nonce"), code_verifier=derived(kept, "verifier"),
        )  # fmt: skip
    return str(to), kept


def finish(settings: Settings, return_address: str, kept: str, state: str, code: str) -> Person:
    """Who came back. Raises Refused where it was not begun here, and Unreachable where the answer is no good."""
    if not kept or not code or not hmac.compare_digest(derived(kept, "state").encode(), state.encode()):
        raise Refused(NOT_BEGUN_HERE)
    with _client(settings, return_address) as client:
        return _asked(lambda: _person(client, settings, kept, code))


def derived(kept: str, purpose: str) -> str:
    """43 letters that say nothing about the token nor about one another."""
    made = hmac.new(kept.encode(), purpose.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(made).rstrip(b"=").decode()


def _client(settings: Settings, return_address: str) -> "OAuth2Client":
    from authlib.integrations.httpx_client import OAuth2Client

    return OAuth2Client(
        settings.oidc_client_id, settings.oidc_client_secret, scope="openid email", redirect_uri=return_address,
        code_challenge_method="S256", timeout=WAIT_SECONDS,
    )  # fmt: skip


def _asked(ask: Callable[[], Answer]) -> Answer:
    """What a provider answers, or one sentence whatever is wrong with it."""
    from authlib.common.errors import AuthlibBaseError
    from httpx2 import HTTPError, InvalidURL
    from joserfc.errors import JoseError

    try:
        return ask()
    except (AuthlibBaseError, HTTPError, InvalidURL, JoseError, KeyError, TypeError, ValueError) as fault:
        raise Unreachable(NO_ANSWER) from fault


def _endpoints(client: "OAuth2Client", settings: Settings) -> Endpoints:
    said = _json(client, f"{settings.oidc_issuer.rstrip('/')}/.well-known/openid-configuration")
    if said["issuer"] != settings.oidc_issuer:
        raise ValueError("the provider calls itself otherwise")
    found = Endpoints(
        authorization=said["authorization_endpoint"],
        token=said["token_endpoint"],
        keys=said["jwks_uri"],
        userinfo=said.get("userinfo_endpoint"),
        authentication=said.get("token_endpoint_auth_methods_supported", ["client_secret_basic"]),
    )
    if settings.oidc_issuer.startswith("https://"):
        for address in (found.authorization, found.token, found.keys, found.userinfo or found.keys):
            if not address.startswith("https://"):
                raise ValueError("an address of the provider is not HTTPS")
    return found


def _json(client: "OAuth2Client", address: str) -> dict[str, Any]:
    answer = client.request("GET", address, withhold_token=True)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def _person(client: "OAuth2Client", settings: Settings, kept: str, code: str) -> Person:
    found = _endpoints(client, settings)
    if "client_secret_basic" not in found.authentication:
        client.token_endpoint_auth_method = "client_secret_post"  # noqa: S105  # a way, not a secret
    token = client.fetch_token(
        found.token, grant_type="authorization_code", code=code, code_verifier=derived(kept, "verifier")
    )
    claims = _checked(settings, token["id_token"], _json(client, found.keys), derived(kept, "nonce"))
    if "email" not in claims and found.userinfo:
        more = client.get(found.userinfo).raise_for_status().json()
        if more["sub"] != claims["sub"]:
            raise ValueError("what was said of the person is about another")
        claims = {**more, **claims}
    return Person(f"{settings.oidc_issuer} {claims['sub']}", _verified_email(claims))


def _checked(settings: Settings, id_token: str, keys: Any, nonce: str) -> dict[str, Any]:
    """What the provider signed for us, now, and in answer to what this browser began."""
    from joserfc import jwt
    from joserfc.jwk import KeySet

    token = jwt.decode(id_token, KeySet.import_key_set(keys), algorithms=SIGNED_WITH)
    jwt.JWTClaimsRegistry(
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": settings.oidc_issuer},
        aud={"essential": True, "value": settings.oidc_client_id},
        nonce={"essential": True, "value": nonce},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    ).validate(token.claims)
    several = isinstance(token.claims["aud"], list) and len(token.claims["aud"]) > 1
    if (several or "azp" in token.claims) and token.claims.get("azp") != settings.oidc_client_id:
        raise ValueError("the token was made for another")
    return dict(token.claims)


def _verified_email(claims: dict[str, Any]) -> str | None:
    email = claims.get("email")
    return email.strip().lower() if isinstance(email, str) and claims.get("email_verified") is True else None
