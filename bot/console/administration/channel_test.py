"""The live test of a channel's settings before they are saved: a list of steps that fills while it
runs.
"""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import SplitResult, urlsplit

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from bot.config.file import ConfigFile
from bot.config.keys import known_secrets
from bot.config.messages import ConfigRejected
from bot.config.schema import Config
from bot.console.administration import models
from bot.errors import ConfigError
from bot.gateway.channel_manager import build_channel, missing_credentials
from bot.telemetry.log import LogRedactor
from channels.base import Channel, HasNotebook, HasProbe, HasSetupCheck, SetupFinding
from channels.errors import ChannelError, LoggedOut
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase
from channels.toolkit.delivery import EmptyNotebook
from channels.toolkit.http import create_http_client
from channels.toolkit.settings import ChannelSettings, ConfigSection
from channels.web.requests import HttpRefusal, Route, request_language

STEP_SECONDS = 10.0
MAX_FINDINGS = 20
LATER_STEP_FACTOR = 3
PORTS = {"https": 443, "wss": 443, "http": 80, "ws": 80, "socks5": 1080}
State = Literal["ok", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one step."""

    step: str
    state: State
    text: AnyPhrase
    hint: AnyPhrase = NO_PHRASE


class ChannelTestRoutes:
    """Handler of the test."""

    def __init__(
        self,
        file: ConfigFile,
        build: Callable[[Config, str], Channel] = build_channel,
        seconds: float = STEP_SECONDS,
    ) -> None:
        self._file = file
        self._build = build
        self._seconds = seconds

    def calls(self) -> tuple[Route, ...]:
        """Return the route, with the action that it needs."""
        return (
            Route(
                method="POST",
                path="/api/v1/channels/{name}/test",
                action="config.write",
                handler=self.test,
                body=models.ChannelTestBody,
                reply=models.ChannelFindingBody,
            ),
        )

    async def test(self, request: Request, body: models.ChannelTestBody) -> Response:
        """Try settings that are not saved yet; replies with one JSON line for each step as it
        ends.
        """
        name = str(request.path_params["name"])
        names = [each for each, _ in self._file.current.channels if each != "web"]
        if name not in names:
            raise HttpRefusal(
                404,
                "not_found",
                Phrase(
                    "there is no channel {name} to test; available: {names}",
                    name=name,
                    names=", ".join(names),
                ),
            )
        lang = request_language(request)
        if set(body.part) - {"channels"}:
            raise HttpRefusal(
                400, "part", Phrase("part must hold settings below channels, or be empty")
            )
        return StreamingResponse(
            self._lines(name, body.part, lang),
            headers={"cache-control": "no-store"},
            media_type="application/x-ndjson",
        )

    async def _lines(self, name: str, part: Mapping[str, Any], lang: str) -> AsyncIterator[str]:
        redact = LogRedactor(known_secrets(self._file.current))
        async with aclosing(self._steps(name, part, redact)) as findings:
            async for finding in findings:
                line = {
                    "step": finding.step,
                    "state": finding.state,
                    "text": redact(finding.text.text(lang)),
                    "hint": redact(finding.hint.text(lang)),
                }
                yield json.dumps(line, ensure_ascii=False) + "\n"

    async def _steps(
        self, name: str, part: Mapping[str, Any], redact: LogRedactor
    ) -> AsyncGenerator[Finding]:
        """Yield one finding for each step; ends at the first one that the following ones need."""
        try:
            config = await asyncio.to_thread(self._file.preview, part)
        except ConfigRejected as err:
            yield Finding(step="settings", state="failed", text=err.phrase)
            return
        redact.learn(known_secrets(config))
        section = getattr(config.channels, name)
        settings = self._check_destination(name, section, part) or self._check_settings(
            name, config, section
        )
        yield settings
        if settings.state == "failed":
            return
        key, default = section.endpoint
        address = (getattr(section, key) if key else "") or default
        if address:
            async for finding in check_connection(address, section.proxy, self._seconds):
                yield finding
                if finding.state == "failed":
                    return
        if getattr(section, "mode", "") == "webhook" and (
            url := getattr(section, "webhook_url", "")
        ):
            yield await check_public_address(url, self._seconds)
        async for finding in self._ask_platform(name, config):
            yield finding

    def _check_destination(
        self, name: str, section: ChannelSettings, part: Mapping[str, Any]
    ) -> Finding | None:
        """Refuse to send saved secrets to an address that is not saved; None if none would be."""
        saved = getattr(self._file.current.channels, name)
        addresses = [key for key in (section.endpoint[0], "proxy") if key]
        moved = [key for key in addresses if getattr(section, key) != getattr(saved, key)]
        secrets, given = known_secrets(self._file.current), part.get("channels", {}).get(name, {})
        kept = (
            [
                key
                for key, value in section
                if isinstance(value, str) and value in secrets and given.get(key) != value
            ]
            if moved
            else []
        )
        if not kept:
            return None
        keys, place = (
            ", ".join(f"channels.{name}.{key}" for key in names) for names in (kept, moved)
        )
        text = Phrase(
            "{place} differs from what is saved, and saved secrets are not sent there: enter "
            "{keys} again.",
            place=place,
            keys=keys,
        )
        return Finding(step="settings", state="failed", text=text)

    def _check_settings(self, name: str, config: Config, section: ConfigSection) -> Finding:
        empty = missing_credentials(section.model_copy(update={"enabled": True}))
        if empty:
            keys = ", ".join(f"channels.{name}.{key}" for key in empty)
            return Finding(
                step="settings",
                state="failed",
                text=Phrase("Still empty: {keys}.", keys=keys),
            )
        try:
            self._build(config, name)
        except ConfigError as err:
            return Finding(step="settings", state="failed", text=Phrase("{why}.", why=_why(err)))
        return Finding(
            step="settings",
            state="ok",
            text=Phrase("The settings are complete and fit together."),
        )

    async def _ask_platform(self, name: str, config: Config) -> AsyncIterator[Finding]:
        channel = self._build(config, name)
        section = getattr(config.channels, name)
        if hasattr(channel, "bind"):
            cast(HasNotebook, channel).bind(EmptyNotebook())
        try:
            if hasattr(channel, "check_setup"):
                owner = next(iter(section.owners), "")
                async for found in _in_time(
                    cast(HasSetupCheck, channel).check_setup(owner), self._seconds
                ):
                    yield found
            elif not hasattr(channel, "probe") and not hasattr(channel, "prompt"):
                text = Phrase("This channel has no test of its own: see its state after saving.")
                yield Finding(step="credentials", state="skipped", text=text)
            elif hasattr(channel, "prompt"):
                text = Phrase("A QR code appears after saving: scan it.")
                yield Finding(step="credentials", state="skipped", text=text)
            else:
                yield await self._probe(name, cast(HasProbe, channel))
        finally:
            if (close := getattr(channel, "close", None)) is not None:
                await close()

    async def _probe(self, name: str, channel: HasProbe) -> Finding:
        renew = Phrase(
            "Copy the credentials in channels.{name} again, and check rights and allowed IPs on "
            "the platform.",
            name=name,
        )
        state: State = "failed"
        try:
            async with asyncio.timeout(self._seconds):
                about = await channel.probe()
            state, text, renew = (
                "ok",
                Phrase("The platform knows this account: {about}.", about=about),
                NO_PHRASE,
            )
        except TimeoutError:
            return _silent("credentials", self._seconds)
        except LoggedOut as err:
            text = Phrase("Rejected: {why}.", why=_why(err))
        except (ChannelError, OSError, RuntimeError, ValueError, ImportError) as err:
            text = Phrase("It failed: {why}.", why=_why(err))
        return Finding(step="credentials", state=state, text=text, hint=renew)


async def _in_time(findings: AsyncIterator[SetupFinding], seconds: float) -> AsyncIterator[Finding]:
    """Yield a channel's own findings; a step that takes too long ends them."""
    for number in range(MAX_FINDINGS):
        # the first one shows whether the platform answers
        limit = LATER_STEP_FACTOR * seconds if number else seconds
        try:
            async with asyncio.timeout(limit):
                found = await anext(findings)
        except StopAsyncIteration:
            return
        except TimeoutError:
            yield _silent("credentials", limit)
            return
        yield Finding(step=found.step, state=found.state, text=found.text, hint=found.hint)


def _silent(step: str, seconds: float) -> Finding:
    return Finding(
        step=step,
        state="failed",
        text=Phrase("No answer within {seconds:g} seconds.", seconds=seconds),
        hint=Phrase("Check the network; the platform may need a proxy."),
    )


async def check_connection(url: str, proxy: str, seconds: float) -> AsyncIterator[Finding]:
    """Yield whether the address, or the proxy in front of it, can be reached, and whether its
    certificate is right.
    """
    target = urlsplit(proxy or url)
    host, port = target.hostname or "", _port(target)
    blocked = Phrase("Check network and firewall; if your network blocks the platform, set proxy.")
    if proxy:
        blocked = Phrase("Start the proxy, and check the host and port in proxy.")
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
        writer.close()
    except socket.gaierror as err:
        why = err.strerror or str(err)
        text = Phrase("The host {host} is not found: {why}.", host=host, why=why)
        yield Finding(step="address", state="failed", text=text, hint=blocked)
        return
    except (OSError, TimeoutError) as err:
        why = "timed out" if isinstance(err, TimeoutError) else (err.strerror or str(err))
        text = Phrase("{host}:{port} cannot be reached: {why}.", host=host, port=port, why=why)
        yield Finding(step="address", state="failed", text=text, hint=blocked)
        return
    via = Phrase(" (the proxy)") if proxy else NO_PHRASE
    yield Finding(
        step="address",
        state="ok",
        text=Phrase("{host}:{port}{via} can be reached.", host=host, port=port, via=via),
    )
    yield await _check_tls(urlsplit(url), through_proxy=bool(proxy), seconds=seconds)


async def _check_tls(target: SplitResult, *, through_proxy: bool, seconds: float) -> Finding:
    host = target.hostname or ""
    if target.scheme in ("http", "ws"):
        text = Phrase("The address is http: not encrypted, and fit for this machine only.")
        return Finding(step="tls", state="skipped", text=text)
    if through_proxy:
        text = Phrase("It goes through the proxy, so the next step tests it.")
        return Finding(step="tls", state="skipped", text=text)
    fault = Phrase(
        "Check the address and this machine's clock; if a device on the way opens TLS, its root "
        "certificate must be trusted here."
    )
    context = await asyncio.to_thread(ssl.create_default_context)
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, _port(target), ssl=context)
        writer.close()
    except ssl.SSLError as err:
        why = getattr(err, "verify_message", "") or err.reason or str(err)
        text = Phrase("The certificate of {host} is not accepted: {why}.", host=host, why=why)
        return Finding(step="tls", state="failed", text=text, hint=fault)
    except (OSError, TimeoutError) as err:
        text = Phrase("The TLS handshake failed: {why}.", why=str(err) or "timed out")
        return Finding(step="tls", state="failed", text=text, hint=fault)
    return Finding(
        step="tls",
        state="ok",
        text=Phrase("The certificate of {host} is valid.", host=host),
    )


async def check_public_address(url: str, seconds: float) -> Finding:
    """Tell whether the address that the platform will call leads to this program, seen from
    here.
    """
    import httpx2

    todo = Phrase("Have the proxy with TLS pass this address to the page's port unchanged.")
    client = await asyncio.to_thread(create_http_client, "", seconds)
    try:
        async with asyncio.timeout(seconds):
            answer = await client.post(
                url, content=b"{}", headers={"content-type": "application/json"}
            )
    except (httpx2.HTTPError, OSError, TimeoutError) as err:
        why = str(err) or type(err).__name__
        text = Phrase("{url} cannot be reached: {why}.", url=url, why=why)
        return Finding(step="reach", state="failed", text=text, hint=todo)
    finally:
        await client.aclose()
    # a call without the secret, before or after the channel runs
    if answer.status_code in (401, 404, 503):
        text = Phrase("{url} leads here.", url=url)
        return Finding(step="reach", state="ok", text=text)
    text = Phrase(
        "{url} answers {status_code}: that is not this program.",
        url=url,
        status_code=answer.status_code,
    )
    return Finding(step="reach", state="failed", text=text, hint=todo)


def _port(target: SplitResult) -> int:
    return target.port or PORTS.get(target.scheme, 443)


def _why(err: Exception) -> str:
    return (str(err) or type(err).__name__).rstrip(".。")
