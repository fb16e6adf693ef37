"""Uses a stored login in the requests to an MCP server, and renews it under a lock."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from bot.config.sections.extensions import McpServerConfig
from bot.tools.mcp.oauth import CLIENT_NAME, LoginFiles, MemoryStorage, to_login

EARLY_SECONDS = 30.0  # a token is renewed that long before it expires


def create_auth(
    name: str, settings: McpServerConfig, files: LoginFiles, login_needed: Callable[[], None]
) -> Any:
    """Return what authenticates the requests to a server, as httpx2 wants it; None if nothing does.

    Args:
        login_needed: called when only a person can help.
    """
    if settings.auth == "none":
        return None
    if settings.auth == "client":
        from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

        return ClientCredentialsOAuthProvider(
            settings.url,
            MemoryStorage(),
            client_id=settings.client_id,
            client_secret=settings.client_secret,
            issuer=settings.issuer,
        )
    from mcp.client.auth.oauth2 import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata

    class StoredLoginAuth(StoredLoginFlow, OAuthClientProvider):
        """The SDK's provider, with the flow of a stored login."""

    metadata = OAuthClientMetadata.model_validate(
        {"redirect_uris": None, "client_name": CLIENT_NAME}
    )
    auth = StoredLoginAuth(settings.url, metadata, MemoryStorage())
    auth.bind(name, settings.url, files, login_needed)
    return auth


class StoredLoginFlow:
    """Uses the stored login, and renews it; it asks nobody and finds out nothing: the login has
    done that.

    A part of the SDK's provider, which is imported at the first use.
    """

    #: Of the provider.
    context: Any
    _refresh_token: Any
    _handle_refresh_response: Any
    _add_auth_header: Any

    def bind(
        self, name: str, url: str, files: LoginFiles, login_needed: Callable[[], None]
    ) -> None:
        """Tell which login it is; before the first request."""
        self._name = name
        self._url = url
        self._files = files
        self._login_needed = login_needed

    async def _auth_flow(self, request: Any) -> AsyncGenerator[Any, Any]:
        await self._take_up()
        if not self._is_fresh():
            async with aclosing(self._renew()) as steps:
                async for step in steps:
                    await self._settle((yield step))
        if self.context.current_tokens is None:
            self._lost()
        self._add_auth_header(request)
        used = self.context.current_tokens
        response = yield request
        if response.status_code != 401:
            return
        async with aclosing(self._renew(used)) as steps:
            async for step in steps:
                await self._settle((yield step))
        if self.context.current_tokens is None or self.context.current_tokens == used:
            self._lost()
        self._add_auth_header(request)
        response = yield request
        if response.status_code == 401:
            self._lost()

    async def _renew(self, refused: Any = None) -> AsyncGenerator[Any, None]:
        """Yield the request that renews the tokens, unless another process has just done it."""
        async with self._files.alone(self._name):
            await self._take_up()
            tokens = self.context.current_tokens
            is_known = tokens != refused if refused is not None else self._is_fresh()
            if not is_known and self.context.can_refresh_token():
                yield await self._refresh_token()

    async def _take_up(self) -> None:
        from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken
        from mcp.shared.auth import ProtectedResourceMetadata as Resource

        login = await asyncio.to_thread(self._files.load, self._name, self._url)
        if login is None:
            self._lost()
            return
        context = self.context
        context.current_tokens = OAuthToken.model_validate(login.tokens)
        context.client_info = OAuthClientInformationFull.model_validate(login.client)
        context.oauth_metadata = (
            OAuthMetadata.model_validate(login.metadata) if login.metadata else None
        )
        context.protected_resource_metadata = (
            Resource.model_validate(login.resource) if login.resource else None
        )
        context.token_expiry_time = login.expires or None

    async def _settle(self, response: Any) -> None:
        """Store renewed tokens while the lock is held."""
        if response.status_code >= 500:
            import httpx2

            raise httpx2.TransportError(
                f"{response.url.host} cannot renew the login: {response.status_code}"
            )
        if await self._handle_refresh_response(response):
            await asyncio.to_thread(self._files.save, self._name, to_login(self._url, self.context))

    def _is_fresh(self) -> bool:
        expires = self.context.token_expiry_time
        return self.context.current_tokens is not None and (
            not expires or time.time() < expires - EARLY_SECONDS
        )

    def _lost(self) -> None:
        import httpx2

        self._login_needed()
        raise httpx2.TransportError(f"it wants a login: mnema mcp login {self._name}")
