"""Doctor checks that use the network: the channels, and the page at its public address."""

import asyncio
import http.client
import json
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any, cast
from urllib.parse import urlsplit

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.keys import known_secrets
from bot.config.schema import Config
from bot.errors import ConfigError, MnemaError
from bot.gateway.channel_manager import (
    build_channel,
    is_turned_off,
    missing_credentials,
    partly_configured_channels,
)
from bot.gateway.channel_status import (
    ChannelStatus,
    channel_status_from_json,
    describe_channel_status,
    trouble_from_error,
)
from bot.runtime.store_access import call_running_bot, open_store_for_command, store_exists
from bot.telemetry.log import LogRedactor
from channels.base import Channel, HasNotebook, HasProbe
from channels.errors import ChannelError
from channels.phrases import NO_PHRASE, AnyPhrase, Capitalized, Phrase, ShownPhrase, untranslated
from channels.registry import find_installed_channels
from channels.web.settings import parse_networks, parse_public_host
from memory.store.conversations.inbox import ChannelNotes
from memory.store.errors import StoreError

CHANNEL_CHECK_SECONDS = 10.0  # timeout of a platform
CHECK_SECONDS = 5.0  # timeout of each step of the address check
STREAM_SECONDS = 3.0  # timeout of the first line of an event stream whose last one comes after four
MAX_BODY_BYTES = 36 << 20  # of the largest message with files
ADDRESS_CHECK = "public address"
CreateChannel = Callable[[Config, str], Channel]
AddressFault = tuple[AnyPhrase, AnyPhrase]  # what the proxy does wrong, and what to do


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """The result of one check."""

    name: str
    ok: bool
    #: One sentence.
    message: AnyPhrase
    #: What to do, "" for nothing.
    hint: AnyPhrase = NO_PHRASE


def passed(name: str, message: AnyPhrase, hint: AnyPhrase = NO_PHRASE) -> DoctorCheck:
    """Return the result of a check without problems."""
    return DoctorCheck(name=name, ok=True, message=message, hint=hint)


def failed(name: str, message: AnyPhrase, hint: AnyPhrase = NO_PHRASE) -> DoctorCheck:
    """Return the result of a failed check."""
    return DoctorCheck(name=name, ok=False, message=message, hint=hint)


async def check_channels(
    home: HomeFolder,
    file: ConfigFile,
    *,
    create: CreateChannel = build_channel,
    timeout: float = CHANNEL_CHECK_SECONDS,
) -> list[DoctorCheck]:
    """Check every channel that is on or partly configured, by the running bot or by calling its
    platform.

    Args:
        timeout: of a platform, seconds.
    """
    sections, partly = dict(file.current.channels), partly_configured_channels(file)
    on = [name for name, section in sections.items() if section.on]
    not_started = []
    for name, section in sections.items():
        if name in partly and (empty := missing_credentials(section)):
            message = Phrase(
                "It is configured but does not start: {empty} is empty.", empty=" and ".join(empty)
            )
            hint = Phrase(
                "Set channels.{key}, or the environment variable that it reads.",
                key=f"{name}.{empty[0]}",
            )
            not_started.append(_build_check(name, message, ok=False, hint=hint))
    for name, section in sections.items():
        if is_turned_off(section) and section.complete:  # on purpose, or in a copy of the example
            message = Phrase("It has credentials but does not start: enabled is false.")
            not_started.append(
                _build_check(
                    name,
                    message,
                    hint=Phrase("Set channels.{name}.enabled to true to start it.", name=name),
                )
            )
    not_started += _unencrypted_check(file.current)
    not_started += [
        _build_check(name, untranslated(f"{why}."), ok=False)
        for name, why in find_installed_channels().troubles.items()
    ]
    if home.address():
        return [*await _check_running(home, on), *not_started]
    async with AsyncExitStack() as stack:
        notes = await _open_notes(home, stack)
        checks = await asyncio.gather(
            *(
                _try_channel(name, file.current, create, _ReadOnlyNotebook(notes, name), timeout)
                for name in on
            )
        )
    redact = LogRedactor(known_secrets(file.current))
    return [*(_hide_secrets(check, redact) for check in checks), *not_started]


def _hide_secrets(check: DoctorCheck, redact: LogRedactor) -> DoctorCheck:
    en, zh = (redact(check.message.text(lang)) for lang in ("en", "zh"))
    return replace(check, message=ShownPhrase(en, zh))


def _unencrypted_check(config: Config) -> list[DoctorCheck]:
    """Warn of an official account without encryption: any machine on the way can forge its
    calls.
    """
    section = config.channels.wechat_mp
    if not section.on or section.encoding_aes_key:
        return []
    message = Phrase(
        "The platform's calls are not encrypted. They could be forged on the way, so every user "
        "is treated as a guest."
    )
    hint = Phrase(
        "Choose safe mode (安全模式) on the platform, and set channels.wechat_mp.encoding_aes_key "
        "to its key."
    )
    return [failed("channel wechat_mp safe mode", message, hint)]


async def _check_running(home: HomeFolder, on: list[str]) -> list[DoctorCheck]:
    """Ask the running bot for the state of its channels."""
    try:
        states = (await call_running_bot(home, "GET", "/api/status"))["channels"]
    except MnemaError as err:
        hint = Phrase("See data/log/mnema.log, or restart the bot.")
        return [failed("channels", untranslated(err), hint)]
    return [
        _running_channel_check(
            name, channel_status_from_json(name, states[name]) if name in states else None
        )
        for name in on
    ]


def _running_channel_check(name: str, state: ChannelStatus | None) -> DoctorCheck:
    if state is None:
        hint = Phrase(
            "data/log/mnema.log says why; mnema config check shows errors in the configuration."
        )
        return _build_check(
            name,
            Phrase("It is enabled, but the running bot has not started it."),
            ok=False,
            hint=hint,
        )
    hint = NO_PHRASE if state.ready else _channel_hint(name, state.phase, has_login=state.has_login)
    status = Capitalized(describe_channel_status(state, time.time()))
    return _build_check(name, Phrase("{status}.", status=status), ok=state.ready, hint=hint)


async def _open_notes(home: HomeFolder, stack: AsyncExitStack) -> ChannelNotes | None:
    """Open the channels' notes; None if there is no store, or a broken one, which has its own
    check.
    """
    try:
        if not store_exists(home):
            return None
        opened = await stack.enter_async_context(open_store_for_command(home))
    except (StoreError, ConfigError):
        return None
    notes: ChannelNotes = opened.store.notes
    return notes


async def _try_channel(
    name: str, config: Config, create: CreateChannel, notebook: "_ReadOnlyNotebook", timeout: float
) -> DoctorCheck:
    """Ask the platform for the bot's identity; nothing is received or sent, and nothing on disk
    changes.
    """
    if name == "web":
        return _build_check(name, Phrase("It is enabled."))
    try:
        channel = create(config, name)
    except ConfigError as err:
        return _build_check(name, untranslated(err), ok=False)
    if not hasattr(channel, "probe"):
        return _build_check(name, Phrase("It is enabled; only mnema run can try it."))
    has_login = hasattr(channel, "prompt")
    try:
        async with asyncio.timeout(timeout):
            return _build_check(
                name,
                Phrase(
                    "It is enabled and answers: {value}.",
                    value=await _identify_channel(channel, notebook),
                ),
            )
    except TimeoutError:
        phase, message = (
            "down",
            Phrase("There was no answer within {timeout:g} seconds.", timeout=timeout),
        )
    except ChannelError as err:
        phase, message = trouble_from_error(err), untranslated(f"{err}.")
    except (OSError, RuntimeError, ValueError, ImportError) as err:
        phase, message = (
            "down",
            Phrase("The check failed: {name}: {err}.", name=type(err).__name__, err=err),
        )
    return _build_check(
        name, message, ok=False, hint=_channel_hint(name, phase, has_login=has_login)
    )


async def _identify_channel(channel: Channel, notebook: "_ReadOnlyNotebook") -> str:
    if hasattr(channel, "bind"):
        cast(HasNotebook, channel).bind(notebook)
    try:
        return await cast(HasProbe, channel).probe()
    finally:
        if (closing := getattr(channel, "close", None)) is not None:
            await closing()


def _channel_hint(name: str, phase: str, *, has_login: bool) -> Phrase:
    if phase in ("logged_out", "asking") and has_login:
        return Phrase(
            "While mnema run is running: mnema channels login {name}, or scan the code under "
            "Channels on the page.",
            name=name,
        )
    if phase == "logged_out":
        return Phrase(
            "Update the credentials in channels.{name}; the platform rejects the current ones.",
            name=name,
        )
    if phase == "contended":
        return Phrase(
            "Stop the other program that uses this account, or set channels.{name}.enabled to "
            "false here.",
            name=name,
        )
    return Phrase(
        "Check the network, and the addresses and the proxy in channels.{name}; mnema run "
        "retries by itself.",
        name=name,
    )


def _build_check(
    name: str, message: AnyPhrase, *, ok: bool = True, hint: AnyPhrase = NO_PHRASE
) -> DoctorCheck:
    return DoctorCheck(name=f"channel {name}", ok=ok, message=message, hint=hint)


class _ReadOnlyNotebook:
    """The notebook of a channel under test: it reads stored notes, and keeps new ones only in
    memory.
    """

    def __init__(self, notes: ChannelNotes | None, channel: str) -> None:
        self._notes = notes
        self._channel = channel
        self._new: dict[str, str] = {}

    async def read(self, start: str = "") -> dict[str, str]:
        old = await self._notes.load(self._channel, start) if self._notes else {}
        new = {name: text for name, text in self._new.items() if name.startswith(start)}
        return {name: text for name, text in {**old, **new}.items() if text}

    async def write(self, values: Mapping[str, str]) -> None:
        self._new.update(values)


# The page is fetched at channels.web.settings, through its proxy, as a browser would.


@dataclass(frozen=True, slots=True, kw_only=True)
class _CheckTarget:
    """The address to check."""

    #: As configured.
    url: str
    #: Path that shows how a request arrived, "" if no bot runs.
    path: str
    #: The bot's own port.
    port: int

    def connect(self) -> http.client.HTTPSConnection:
        """Create a connection; its certificate is verified with the system's CAs or
        SSL_CERT_FILE.
        """
        parts = urlsplit(self.url)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(
            parts.hostname or "", parts.port, timeout=CHECK_SECONDS, context=context
        )


async def check_public(home: HomeFolder, config: Config) -> list[DoctorCheck]:
    """Check the public address: one result, or one for each fault; none if there is no public
    address.
    """
    web = config.channels.web
    if not web.on or not web.public_url:
        return []
    path, port = "", web.port
    if address := home.address():
        port = urlsplit(address).port or port
        try:
            path = str((await call_running_bot(home, "POST", "/api/v1/proxy-check", {}))["path"])
        except MnemaError as err:
            return [
                failed(
                    ADDRESS_CHECK,
                    untranslated(err),
                    Phrase("See data/log/mnema.log, or restart the bot."),
                )
            ]
    target = _CheckTarget(url=web.public_url, path=path, port=port)
    fault, echo = await asyncio.to_thread(_fetch, target)
    if fault is not None:
        return [failed(ADDRESS_CHECK, *fault)]
    if not path:
        message = Phrase(
            "The certificate of {public_url} is valid. mnema run is not running, so nothing else "
            "was tried.",
            public_url=web.public_url,
        )
        return [passed(ADDRESS_CHECK, message, hint=Phrase("Start it, then check again."))]
    faults = [
        *_altered_headers(target, echo),
        *await asyncio.gather(
            asyncio.to_thread(_check_body_limit, target), asyncio.to_thread(_check_stream, target)
        ),
    ]
    if any(faults):
        return [failed(ADDRESS_CHECK, *fault) for fault in faults if fault is not None]
    hint = _check_client_address(echo, web.trusted_proxies)
    message = Phrase(
        "{public_url} reaches the page: certificate, Host, Origin, body size and event stream "
        "are fine.",
        public_url=web.public_url,
    )
    return [passed(ADDRESS_CHECK, message, hint)]


def _fetch(target: _CheckTarget) -> tuple[AddressFault | None, Mapping[str, Any]]:
    """Send one request; returns what is wrong, or how it arrived."""
    host = urlsplit(target.url).hostname or ""
    connection = target.connect()
    try:
        connection.request("GET", target.path or "/healthz", headers={"Origin": _origin(target)})
        answer = connection.getresponse()
        status, location, body = (
            answer.status,
            answer.getheader("location", ""),
            answer.read(65_536),
        )
    except ssl.SSLCertVerificationError as err:
        todo = Phrase(
            "Renew the certificate for {host}, and serve it with its full chain.", host=host
        )
        return (
            Phrase(
                "The certificate of {url} is not accepted: {verify_message}.",
                url=target.url,
                verify_message=err.verify_message,
            ),
            todo,
        ), {}
    except ssl.SSLError as err:
        todo = Phrase("Have the proxy serve TLS 1.2 or later on this port.")
        return (
            Phrase(
                "{url} does not support TLS: {reason}.", url=target.url, reason=err.reason or err
            ),
            todo,
        ), {}
    except (OSError, http.client.HTTPException) as err:
        todo = Phrase(
            "Start the proxy, and check the DNS entry of {host} and the firewall.", host=host
        )
        return (
            Phrase(
                "{url} cannot be reached: {err}.",
                url=target.url,
                err=str(err) or type(err).__name__,
            ),
            todo,
        ), {}
    finally:
        connection.close()
    return _judge(target, status, location, body)


def _judge(
    target: _CheckTarget, status: int, location: str, body: bytes
) -> tuple[AddressFault | None, Mapping[str, Any]]:
    if not target.path:
        return None, {}
    try:
        echo = json.loads(body)
        if status == 200 and echo["check"] == target.path.rpartition("/")[2]:
            return None, echo
    except (ValueError, LookupError, TypeError):
        pass
    inner = f"http://127.0.0.1:{target.port}"
    if 300 <= status < 400:
        todo = Phrase(
            "Have the proxy pass every path of this host to {inner} unchanged, and set "
            "public_url to an address that does not redirect.",
            inner=inner,
        )
        return (
            Phrase("{url} redirects to {location}.", url=target.url, location=location[:200]),
            todo,
        ), {}
    if status in (502, 503, 504):
        return (
            Phrase(
                "The proxy at {url} answers {status}: it cannot reach mnema.",
                url=target.url,
                status=status,
            ),
            Phrase("Have the proxy forward to {inner}.", inner=inner),
        ), {}
    todo = Phrase(
        "Have the proxy pass every path of this host to {inner}, without a login or pages of its "
        "own.",
        inner=inner,
    )
    return (
        Phrase(
            "Something else answers at {url}, with status {status}.", url=target.url, status=status
        ),
        todo,
    ), {}


def _altered_headers(target: _CheckTarget, echo: Mapping[str, Any]) -> list[AddressFault | None]:
    faults: list[AddressFault | None] = []
    host = parse_public_host(target.url)
    if [name.lower() for name in echo["host"]] != [host]:
        todo = Phrase(
            "Have the proxy pass Host on unchanged, so that {host} arrives; nginx: "
            "proxy_set_header Host $http_host;",
            host=host,
        )
        faults.append(
            (Phrase("The proxy changes Host to {echo}.", echo=", ".join(echo["host"])[:200]), todo)
        )
    if echo["origin"] != [_origin(target)]:
        became = Phrase("The proxy removes Origin.")
        if echo["origin"]:
            origin = ", ".join(echo["origin"])[:200]
            became = Phrase("The proxy changes Origin to {origin}.", origin=origin)
        todo = Phrase(
            "Have the proxy pass Origin on unchanged: without it nobody can sign in or send "
            "messages."
        )
        faults.append((became, todo))
    return faults


def _check_body_limit(target: _CheckTarget) -> AddressFault | None:
    """Check whether the proxy refuses a large upload, by its header alone."""
    connection = target.connect()
    try:
        connection.putrequest("POST", target.path)
        connection.putheader("Content-Length", str(MAX_BODY_BYTES))
        connection.putheader("Content-Type", "application/octet-stream")
        connection.putheader("Expect", "100-continue")
        connection.endheaders()
        status = connection.sock.recv(64).split(b" ")[1:2]
    except (OSError, http.client.HTTPException):
        return None  # it waits for the body, so it accepts it
    finally:
        connection.close()
    if status != [b"413"]:
        return None
    return (
        Phrase("The proxy does not accept uploads of 36 MB."),
        Phrase("Raise its limit; nginx: client_max_body_size 40m;"),
    )


def _check_stream(target: _CheckTarget) -> AddressFault | None:
    """Check whether the proxy buffers an event stream."""
    connection = target.connect()
    fault = (
        Phrase("The proxy buffers the event stream: answers do not appear as they are written."),
        (
            Phrase(
                "Turn off its buffering and compression; nginx: proxy_buffering off; Caddy: "
                "flush_interval -1"
            )
        ),
    )
    try:
        connection.request("GET", f"{target.path}/stream")
        if connection.sock is not None:
            connection.sock.settimeout(STREAM_SECONDS)
        line = connection.getresponse().readline(64)
    except (OSError, http.client.HTTPException):
        return fault
    finally:
        connection.close()
    return None if line.startswith(b": first") else fault


def _check_client_address(echo: Mapping[str, Any], trusted: Sequence[str]) -> Phrase:
    peer = str(echo["peer"])
    if echo["forwarded_for"] and any(
        ip_address(peer) in network for network in parse_networks(trusted)
    ):
        return NO_PHRASE
    return Phrase(
        "Wrong tokens from all clients are counted together: list {peer} in "
        "channels.web.trusted_proxies, and have the proxy send X-Forwarded-For.",
        peer=peer,
    )


def _origin(target: _CheckTarget) -> str:
    return f"https://{parse_public_host(target.url)}"
