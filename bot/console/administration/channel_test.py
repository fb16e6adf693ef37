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
from bot.texts import BilingualText
from channels.base import Channel, HasNotebook, HasProbe, HasSetupCheck, SetupFinding
from channels.errors import ChannelError, LoggedOut
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
    text: BilingualText
    hint: BilingualText = ("", "")


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
                f"there is no channel {name} to test; there are {', '.join(names)}",
            )
        side = 0 if request_language(request) == "zh" else 1
        if set(body.part) - {"channels"}:
            raise HttpRefusal(400, "part", "part must hold settings below channels, or nothing")
        return StreamingResponse(
            self._lines(name, body.part, side),
            headers={"cache-control": "no-store"},
            media_type="application/x-ndjson",
        )

    async def _lines(self, name: str, part: Mapping[str, Any], side: int) -> AsyncIterator[str]:
        redact = LogRedactor(known_secrets(self._file.current))
        async with aclosing(self._steps(name, part, redact)) as findings:
            async for finding in findings:
                line = {
                    "step": finding.step,
                    "state": finding.state,
                    "text": redact(finding.text[side]),
                    "hint": redact(finding.hint[side]),
                }
                yield json.dumps(line, ensure_ascii=False) + "\n"

    async def _steps(
        self, name: str, part: Mapping[str, Any], redact: LogRedactor
    ) -> AsyncGenerator[Finding]:
        """Yield one finding for each step; ends at the first one that the following ones need."""
        try:
            config = await asyncio.to_thread(self._file.preview, part)
        except ConfigRejected as err:
            yield Finding(step="settings", state="failed", text=(err.say("zh"), err.say("en")))
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
        text = (
            f"{place} 与保存的不同，保存的密钥不会发到那里：请重新填写 {keys}。",
            (
                f"{place} is not what is saved, and saved secrets are not sent there: enter {keys} "
                "again."
            ),
        )
        return Finding(step="settings", state="failed", text=text)

    def _check_settings(self, name: str, config: Config, section: ConfigSection) -> Finding:
        empty = missing_credentials(section.model_copy(update={"enabled": True}))
        if empty:
            keys = ", ".join(f"channels.{name}.{key}" for key in empty)
            return Finding(
                step="settings",
                state="failed",
                text=(f"还没有填：{keys}。", f"Still empty: {keys}."),
            )
        try:
            self._build(config, name)
        except ConfigError as err:
            return Finding(
                step="settings", state="failed", text=(f"{_why(err)}。", f"{_why(err)}.")
            )
        return Finding(
            step="settings",
            state="ok",
            text=("设置齐全，没有矛盾。", "The settings are complete and fit together."),
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
                text = (
                    "这个渠道不提供连接测试；保存后看它的状态。",
                    "This channel has no test of its own: see its state after saving.",
                )
                yield Finding(step="credentials", state="skipped", text=text)
            elif hasattr(channel, "prompt"):
                text = (
                    "保存后这里会出现二维码，用手机扫码登录。",
                    "A QR code appears after saving: scan it.",
                )
                yield Finding(step="credentials", state="skipped", text=text)
            else:
                yield await self._probe(name, cast(HasProbe, channel))
        finally:
            if (close := getattr(channel, "close", None)) is not None:
                await close()

    async def _probe(self, name: str, channel: HasProbe) -> Finding:
        renew = (
            f"到平台的后台重新复制 channels.{name} 的凭据，并检查权限和 IP 白名单。",
            (
                f"Copy the credentials in channels.{name} again; look at rights and allowed IPs at "
                "the platform."
            ),
        )
        state: State = "failed"
        try:
            async with asyncio.timeout(self._seconds):
                about = await channel.probe()
            state, text, renew = (
                "ok",
                (f"平台认得它：{about}。", f"The platform knows it: {about}."),
                ("", ""),
            )
        except TimeoutError:
            return _silent("credentials", self._seconds)
        except LoggedOut as err:
            text = (f"平台不接受：{_why(err)}。", f"Refused: {_why(err)}.")
        except (ChannelError, OSError, RuntimeError, ValueError, ImportError) as err:
            text = (f"没有成功：{_why(err)}。", f"It failed: {_why(err)}.")
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
        text=(f"{seconds:g} 秒内没有回音。", f"No answer within {seconds:g} seconds."),
        hint=(
            "检查网络；这个平台可能要走代理（proxy）。",
            "Look at the network; the platform may need a proxy.",
        ),
    )


async def check_connection(url: str, proxy: str, seconds: float) -> AsyncIterator[Finding]:
    """Yield whether the address, or the proxy in front of it, can be reached, and whether its
    certificate is right.
    """
    target = urlsplit(proxy or url)
    host, port = target.hostname or "", _port(target)
    blocked = (
        "检查网络和防火墙；如果这个平台在你的网络里被屏蔽，请填 proxy。",
        "Look at network and firewall; if the platform is blocked in your network, set proxy.",
    )
    if proxy:
        blocked = (
            "启动代理，检查 proxy 的地址和端口。",
            "Start the proxy, and look at host and port in proxy.",
        )
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
        writer.close()
    except socket.gaierror as err:
        why = err.strerror or str(err)
        text = (f"找不到主机 {host}：{why}。", f"The host {host} is not found: {why}.")
        yield Finding(step="address", state="failed", text=text, hint=blocked)
        return
    except (OSError, TimeoutError) as err:
        why = "timed out" if isinstance(err, TimeoutError) else (err.strerror or str(err))
        text = (f"连不上 {host}:{port}：{why}。", f"{host}:{port} cannot be reached: {why}.")
        yield Finding(step="address", state="failed", text=text, hint=blocked)
        return
    via = ("（代理）", " (the proxy)") if proxy else ("", "")
    yield Finding(
        step="address",
        state="ok",
        text=(f"{host}:{port}{via[0]} 连得上。", f"{host}:{port}{via[1]} can be reached."),
    )
    yield await _check_tls(urlsplit(url), through_proxy=bool(proxy), seconds=seconds)


async def _check_tls(target: SplitResult, *, through_proxy: bool, seconds: float) -> Finding:
    host = target.hostname or ""
    if target.scheme in ("http", "ws"):
        text = (
            "地址是 http，不加密；只适合本机。",
            "The address is http: not encrypted, fit for this machine only.",
        )
        return Finding(step="tls", state="skipped", text=text)
    if through_proxy:
        text = (
            "经过代理，在下一步里一并检查。",
            "It goes through the proxy and is tried by the next step.",
        )
        return Finding(step="tls", state="skipped", text=text)
    fault = (
        "核对地址和这台机器的时钟；中间若有拆解 TLS 的设备，要信任它的根证书。",
        (
            "Check the address and this machine's clock; a device that opens TLS on the way needs "
            "its root trusted."
        ),
    )
    context = await asyncio.to_thread(ssl.create_default_context)
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, _port(target), ssl=context)
        writer.close()
    except ssl.SSLError as err:
        why = getattr(err, "verify_message", "") or err.reason or str(err)
        text = (
            f"{host} 的证书不被接受：{why}。",
            f"The certificate of {host} is not accepted: {why}.",
        )
        return Finding(step="tls", state="failed", text=text, hint=fault)
    except (OSError, TimeoutError) as err:
        text = (
            f"TLS 握手没有完成：{_why(err)}。",
            f"The TLS handshake did not end: {err or 'timed out'}.",
        )
        return Finding(step="tls", state="failed", text=text, hint=fault)
    return Finding(
        step="tls",
        state="ok",
        text=(f"{host} 的证书有效。", f"The certificate of {host} is right."),
    )


async def check_public_address(url: str, seconds: float) -> Finding:
    """Tell whether the address that the platform will call leads to this program, seen from
    here.
    """
    import httpx2

    todo = (
        "让代理把这个地址原样转给本机网页的端口。",
        "Let the proxy with TLS pass this address to the page's port as it is.",
    )
    client = await asyncio.to_thread(create_http_client, "", seconds)
    try:
        async with asyncio.timeout(seconds):
            answer = await client.post(
                url, content=b"{}", headers={"content-type": "application/json"}
            )
    except (httpx2.HTTPError, OSError, TimeoutError) as err:
        why = str(err) or type(err).__name__
        text = (f"{url} 打不开：{why}。", f"{url} cannot be reached: {why}.")
        return Finding(step="reach", state="failed", text=text, hint=todo)
    finally:
        await client.aclose()
    # a call without the secret, before or after the channel runs
    if answer.status_code in (401, 404, 503):
        text = (f"{url} 能到达这里。", f"{url} leads here.")
        return Finding(step="reach", state="ok", text=text)
    text = (
        f"{url} 回了 {answer.status_code}，不像是这个程序。",
        f"{url} answers {answer.status_code}: that is not this program.",
    )
    return Finding(step="reach", state="failed", text=text, hint=todo)


def _port(target: SplitResult) -> int:
    return target.port or PORTS.get(target.scheme, 443)


def _why(err: Exception) -> str:
    return (str(err) or type(err).__name__).rstrip(".。")
