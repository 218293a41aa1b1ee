"""A small OpenID provider on the loopback, which can be told to misbehave."""

import base64
import hashlib
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import time
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT_ID = "glance"
CLIENT_SECRET = "q7Vt0mYc2Zp9Kd4xWn"
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, auto_kid=False)
STRANGER = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, auto_kid=False)


@dataclass
class Provider:
    """What it says, and what it was asked."""

    issuer: str = ""
    person: dict[str, Any] = field(
        default_factory=lambda: {"sub": "17", "email": "Ada@Example.org", "email_verified": True}
    )
    claims: dict[str, Any] = field(default_factory=dict)
    """Said instead in the next tokens."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Said instead of itself."""
    signing: str = "RS256"
    key: Any = field(default_factory=lambda: KEY)
    in_userinfo: bool = False
    """The address is told only there."""
    broken: str = ""
    """A path that answers with a failure."""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def described(self) -> dict[str, Any]:
        own = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }
        return own | self.metadata

    def authorize(self, address: str) -> str:
        """A person says yes: where their browser is sent back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["client_id"] == CLIENT_ID
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert set(asked["scope"].split()) == {"openid", "email"}
        assert len(asked["state"]) == len(asked["nonce"]) == 43
        code = secrets.token_hex(8)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """For a code that was not used yet, with the client's secret and the verifier of its challenge."""
        asked = self.codes.pop(form.get("code", ""), None)
        basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        shown = authorization == f"Basic {basic}" or form.get("client_secret") == CLIENT_SECRET
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if not asked or not shown or challenge != asked["code_challenge"]:
            return None
        if form["redirect_uri"] != asked["redirect_uri"]:
            return None
        at = int(time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": at, "exp": at + 300, "nonce": asked["nonce"]}
        claims |= {"sub": self.person["sub"]} if self.in_userinfo else self.person
        claims = {name: value for name, value in (claims | self.claims).items() if value is not None}
        return {"access_token": "access", "token_type": "Bearer", "id_token": self.signed(claims)}

    def signed(self, claims: dict[str, Any]) -> str:
        if self.signing == "none":
            parts = ({"alg": "none"}, claims)
            return (
                ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
                + "."
            )
        if self.signing == "HS256":
            return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(CLIENT_SECRET))
        return jwt.encode({"alg": self.signing, "kid": "one"}, claims, self.key)


@contextmanager
def provider() -> Iterator[Provider]:
    told = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers = {
                "/.well-known/openid-configuration": told.described,
                "/keys": lambda: {"keys": [KEY.as_dict(private=False)]},
                "/userinfo": lambda: told.person if self.headers["authorization"] == "Bearer access" else None,
            }
            self.answer(answers.get(urlsplit(self.path).path, lambda: None))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self.answer(lambda: told.token(form, self.headers.get("authorization", "")))

        def answer(self, make: Any) -> None:
            told.asked.append(f"{self.command} {urlsplit(self.path).path}")
            found = None if self.path == told.broken else make()
            body = json.dumps(found if found is not None else {"error": "invalid_grant"}).encode()
            self.send_response(200 if found is not None else 400)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is said."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield told
    server.shutdown()
    server.server_close()
    thread.join()
