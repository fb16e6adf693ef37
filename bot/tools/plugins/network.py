"""What plug-ins send over the network: checked, with the secrets they need, by the guarded
client.
"""

import base64
import binascii
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from bot.plugins import PluginError, Response, check_response
from bot.tools.base import ToolContext
from bot.tools.web.addresses import WebError, parse_url
from bot.tools.web.client import GuardedClient
from bot.tools.web.fetch import check_leak

MAX_BODY_BYTES = 2**20
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,100}")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]{0,4000}")
# Headers that the client sets itself, or that would change how the request is read.
_OWN_HEADERS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "accept-encoding", "upgrade"}
)


class PluginNetwork:
    """Sends requests for one call of a plug-in.

    Args:
        secrets: those that the tool needs, by name.
        known_secrets: all secrets of the configuration; no request carries another one than its
            own.
    """

    def __init__(
        self,
        client: GuardedClient,
        context: ToolContext,
        secrets: Mapping[str, str],
        known_secrets: Callable[[], Collection[str]],
    ) -> None:
        self._client = client
        self._context = context
        self._secrets = secrets
        self._known_secrets = known_secrets

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, bearer: str
    ) -> Response:
        """Send one request.

        Raises:
            WebError: it was refused, or the server cannot be reached.
        """
        if method not in _METHODS:
            raise WebError("type", f"the method {method[:20]!r} is not sent")
        if len(body) > MAX_BODY_BYTES:
            raise WebError("too_large", f"a body has at most {MAX_BODY_BYTES // 2**20} MiB")
        sent = {name: value for name, value in headers.items() if name.lower() not in _OWN_HEADERS}
        if not all(
            _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)
            for name, value in sent.items()
        ):
            raise WebError("type", "a header is not one")
        if bearer:
            if bearer not in self._secrets:
                raise WebError(
                    "denied", f"the secret {bearer[:60]!r} is not among what the tool needs"
                )
            sent["Authorization"] = f"Bearer {self._secrets[bearer]}"
        parsed = parse_url(url)
        secrets = [
            secret for secret in self._known_secrets() if secret not in self._secrets.values()
        ]
        carried = "\n".join(
            (
                f"{parsed.host}{parsed.target}",
                body.decode("utf-8", "replace"),
                *headers,
                *headers.values(),
            )
        )
        check_leak(carried, str(parsed), await self._context.load_visible(), secrets)
        answer = await self._client.request(method, str(parsed), sent, body)
        return Response(
            url=str(answer.url), status=answer.status, headers=answer.headers, body=answer.body
        )

    async def answer(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Send what a plug-in in its process wants; return what `worker.SandboxContext` reads."""
        try:
            headers = {
                str(name): str(value) for name, value in dict(wanted.get("headers") or {}).items()
            }
            body = base64.b64decode(str(wanted.get("body", "")), validate=True)
            method, url, bearer = (
                str(wanted.get(name, "")) for name in ("method", "url", "bearer")
            )
            response = await self.send(method, url, headers, body, bearer)
        except WebError as err:
            return {"error": f"{err.code}: {err}."}
        except (binascii.Error, ValueError, TypeError):
            return {"error": "that is no request"}
        return {
            "url": response.url,
            "status": response.status,
            "headers": dict(response.headers),
            "body": base64.b64encode(response.body).decode(),
        }


class PackageContext:
    """The context of a tool of an installed package; see `bot.plugins.Context`."""

    def __init__(
        self, network: PluginNetwork, context: ToolContext, secrets: Mapping[str, str]
    ) -> None:
        self._network = network
        self._secrets = secrets
        self.now = context.now()

    def secret(self, name: str) -> str:
        if name not in self._secrets:
            raise PluginError(f"the secret {name} is not among what the tool needs")
        return self._secrets[name]

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | str = b"",
        bearer: str = "",
        check: bool = True,
    ) -> Response:
        data = body.encode() if isinstance(body, str) else body
        try:
            response = await self._network.send(method, url, headers or {}, data, bearer)
        except WebError as err:
            raise PluginError(f"{err.code}: {err}.") from err
        return check_response(response, check=check)
