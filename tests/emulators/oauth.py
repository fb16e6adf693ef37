"""An authorization server: metadata, registration, consent without a question, PKCE, tokens that
rotate.
"""

import base64
import hashlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

from aiohttp import BasicAuth, web


class Issuer:
    """One server; `url` is its address while it runs."""

    def __init__(self) -> None:
        self.url = ""
        #: What its metadata, and its answer after the consent, say that it is; "" for what it is.
        self.claimed, self.answered = "", ""
        #: Seconds that a token is good for, as it says.
        self.lifetime = 3600
        #: Access tokens that servers accept; refresh tokens that it takes.
        self.valid: set[str] = set()
        self.refreshable: set[str] = set()
        self.clients: dict[str, dict[str, Any]] = {}
        self.secrets: dict[str, str] = {}
        #: Grants that were asked for, in order.
        self.grants: list[str] = []
        #: The headers of each request.
        self.headers: list[Mapping[str, str]] = []
        self._codes: dict[str, dict[str, str]] = {}

    def revoke(self) -> None:
        """Accept nothing that was issued so far."""
        self.valid.clear()
        self.refreshable.clear()

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._note_headers])
        app.router.add_get("/.well-known/oauth-authorization-server", self.metadata)
        app.router.add_post("/register", self.register)
        app.router.add_get("/authorize", self.authorize)
        app.router.add_post("/token", self.token)
        return app

    @web.middleware
    async def _note_headers(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        self.headers.append(request.headers)
        return await handler(request)

    async def metadata(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(
            {
                "issuer": self.claimed or self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "response_types_supported": ["code"],
                "grant_types_supported": [
                    "authorization_code",
                    "refresh_token",
                    "client_credentials",
                ],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
                "token_endpoint_auth_methods_supported": [
                    "none",
                    "client_secret_basic",
                    "client_secret_post",
                ],
            }
        )

    async def register(self, request: web.Request) -> web.StreamResponse:
        wanted = await request.json()
        id = f"client-{len(self.clients)}"
        self.clients[id] = {**wanted, "client_id": id}
        return web.json_response(self.clients[id], status=201)

    async def authorize(self, request: web.Request) -> web.StreamResponse:
        query = request.query
        client = self.clients.get(query["client_id"])
        if client is None or query["redirect_uri"] not in client["redirect_uris"]:
            raise web.HTTPBadRequest(text="unknown client")
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_hex(8)
        self._codes[code] = {
            "challenge": query["code_challenge"],
            "redirect": query["redirect_uri"],
        }
        back = {"code": code, "state": query["state"], "iss": self.answered or self.url}
        raise web.HTTPFound(f"{query['redirect_uri']}?{urlencode(back)}")

    async def token(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        grant = str(form["grant_type"])
        self.grants.append(grant)
        if not self._is_granted(grant, {name: str(value) for name, value in form.items()}, request):
            return web.json_response({"error": "invalid_grant"}, status=400)
        access, refresh = secrets.token_hex(8), secrets.token_hex(8)
        self.valid.add(access)
        reply: dict[str, Any] = {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": self.lifetime,
        }
        if grant != "client_credentials":
            self.refreshable.add(refresh)
            reply["refresh_token"] = refresh
        return web.json_response(reply)

    def _is_granted(self, grant: str, form: dict[str, str], request: web.Request) -> bool:
        if grant == "authorization_code":
            asked = self._codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            return asked == {"challenge": challenge, "redirect": form["redirect_uri"]}
        if grant == "refresh_token":
            known = form["refresh_token"] in self.refreshable
            self.refreshable.discard(form["refresh_token"])  # good for once
            return known
        given = BasicAuth.decode(request.headers["Authorization"])
        return self.secrets.get(given.login) == given.password


@asynccontextmanager
async def issuer() -> AsyncIterator[Issuer]:
    """Run one."""
    found = Issuer()
    runner = web.AppRunner(found.app(), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield found
    finally:
        await runner.cleanup()
