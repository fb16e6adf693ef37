"""Logins at MCP servers: tokens in a file, bound to who issued them, and renewed by one process at
a time.
"""

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.config.sections.extensions import McpServerConfig
from memory.workspace.atomic_write import write_atomic
from memory.workspace.write_locks import LOCAL_WRITE_LOCKS, WriteLocks

MAX_LOGIN_BYTES = 200_000
CLIENT_NAME = "mnema"
# Shows the address at which the person consents; then returns the address that the browser was sent
# back to.
AskPerson = Callable[[str], Awaitable[str]]


class McpLoginError(Exception):
    """The login did not work; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """What a login has led to, as it is stored."""

    #: Address of the server that it is for; tokens are sent nowhere else.
    url: str
    #: Who issued them; they are renewed nowhere else.
    issuer: str
    tokens: Mapping[str, Any]
    client: Mapping[str, Any]
    #: What the issuer, and the server, say about themselves.
    metadata: Mapping[str, Any]
    resource: Mapping[str, Any] | None
    #: Unix seconds; 0 if the tokens do not expire.
    expires: float


class LoginFiles:
    """The logins of a home, one file for each server, readable for its owner alone."""

    def __init__(self, folder: Path, locks: WriteLocks) -> None:
        self._folder = folder
        self._locks = locks
        self._here: dict[str, asyncio.Lock] = {}

    def load(self, name: str, url: str) -> Login | None:
        """Return the login of a server; None without one, or if it is for another address."""
        try:
            with (self._folder / f"{name}.json").open("rb") as file:
                login = Login(**json.loads(file.read(MAX_LOGIN_BYTES)))
        except (OSError, ValueError, TypeError):
            return None
        return login if login.url == url else None

    def save(self, name: str, login: Login) -> None:
        """Store a login."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        record = {field: getattr(login, field) for field in Login.__dataclass_fields__}
        write_atomic(self._folder / f"{name}.json", json.dumps(record).encode(), 0o600)

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        """Hold the lock of a login, among all processes that share the store."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        # Only one task of this process waits in a thread: many would take all that files are read
        # with.
        async with self._here.setdefault(name, asyncio.Lock()), self._alone_among_processes(name):
            yield

    @asynccontextmanager
    async def _alone_among_processes(self, name: str) -> AsyncIterator[None]:
        with ExitStack() as stack:
            # A file of its own: the lock of the folder is taken for each write into it.
            held = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, held)
            # The command line has no lock of a shared store, so that of this machine is taken in
            # any case.
            for locks in dict.fromkeys((LOCAL_WRITE_LOCKS, self._locks)):
                await asyncio.to_thread(stack.enter_context, locks.alone(f"mcp login {name}", held))
            yield


async def log_in(
    name: str, settings: McpServerConfig, files: LoginFiles, redirect: str, ask: AskPerson
) -> str:
    """Log in at a server with the consent of a person, and store it; return the issuer.

    Args:
        redirect: address that the browser is sent back to.

    Raises:
        McpLoginError: it did not work, or the server wants no login.
    """
    import httpx2
    from mcp.client.auth import OAuthFlowError

    from bot.tools.mcp.http import create_client

    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)  # it logs what servers send
    provider = _create_login_auth(settings, redirect, ask)
    try:
        async with create_client(
            settings.url, settings.headers, settings.local, provider
        ) as client:
            # The server answers that a login is needed; what it would say to the request itself
            # does not matter.
            accepted = {"Accept": "application/json, text/event-stream"}
            async with client.stream("POST", settings.url, json=_PING, headers=accepted) as answer:
                status = answer.status_code
    except (httpx2.HTTPError, OAuthFlowError, ValueError, OSError) as err:
        raise McpLoginError(" ".join(str(err).split())[:300] or type(err).__name__) from err
    context = provider.context
    if context.current_tokens is None:
        raise McpLoginError(f"the server asked for no login: it answered {status}")
    if status in (401, 403):
        raise McpLoginError(f"the server refuses the login: it answered {status}")
    login = to_login(settings.url, context)
    async with files.alone(name):
        await asyncio.to_thread(files.save, name, login)
    return login.issuer


_PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def to_login(url: str, context: Any) -> Login:
    """Return what is stored of a login, from the SDK's context."""
    metadata, resource = context.oauth_metadata, context.protected_resource_metadata
    return Login(
        url=url,
        issuer=str(metadata.issuer) if metadata else url,
        tokens=context.current_tokens.model_dump(mode="json", exclude_none=True),
        client=context.client_info.model_dump(mode="json", exclude_none=True),
        metadata=metadata.model_dump(mode="json", exclude_none=True) if metadata else {},
        resource=resource.model_dump(mode="json", exclude_none=True) if resource else None,
        expires=context.token_expiry_time or 0.0,
    )


class MemoryStorage:
    """Keeps what the SDK has just received; `log_in` stores it once all of it is there."""

    def __init__(self, client: Any = None) -> None:
        self._client, self._tokens = client, None

    async def get_tokens(self) -> Any:
        return self._tokens

    async def set_tokens(self, tokens: Any) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> Any:
        return self._client

    async def set_client_info(self, client_info: Any) -> None:
        self._client = client_info


def _create_login_auth(settings: McpServerConfig, redirect: str, ask: AskPerson) -> Any:
    from urllib.parse import parse_qs, urlsplit

    from mcp.client.auth.oauth2 import OAuthClientProvider
    from mcp.shared.auth import (
        AuthorizationCodeResult,
        OAuthClientInformationFull,
        OAuthClientMetadata,
    )

    shown: list[str] = []

    async def show(url: str) -> None:
        shown.append(url)

    async def wait() -> AuthorizationCodeResult:
        query = parse_qs(urlsplit(await ask(shown[-1])).query)
        found = {name: values[0] for name, values in query.items()}
        if "code" not in found:
            raise McpLoginError(
                "no consent: "
                f"{found.get('error_description') or found.get('error') or 'no code came'}"
            )
        return AuthorizationCodeResult(
            code=found["code"], state=found.get("state"), iss=found.get("iss")
        )

    known = {
        "redirect_uris": [redirect],
        "token_endpoint_auth_method": "none",
        "client_name": CLIENT_NAME,
    }
    client = None
    if settings.client_id:  # one that the owner registered
        secret = {
            "client_secret": settings.client_secret,
            "token_endpoint_auth_method": "client_secret_post",
        }
        own = {
            **known,
            "client_id": settings.client_id,
            **(secret if settings.client_secret else {}),
        }
        client = OAuthClientInformationFull.model_validate(
            {**own, "issuer": settings.issuer or None}
        )
    return OAuthClientProvider(
        settings.url, OAuthClientMetadata.model_validate(known), MemoryStorage(client), show, wait
    )
