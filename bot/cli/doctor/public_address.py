"""The doctor's look at channels.web.public_url: the page is fetched through its proxy as a browser would."""

import asyncio
import http.client
import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from bot.cli.doctor.check import DoctorCheck
from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.errors import MnemaError
from bot.runtime.store_access import call_running_bot
from channels.web.settings import parse_networks, parse_public_url

CHECK_SECONDS = 5.0  # for each step: to connect, to answer
STREAM_SECONDS = 3.0  # for the first line of a stream whose last one comes after four
MAX_BODY_BYTES = 36 << 20  # bytes of the largest message with files
CHECK_NAME = "public address"
AddressFault = tuple[str, str]  # what the proxy does wrong, and what to do


@dataclass(frozen=True, slots=True, kw_only=True)
class _CheckTarget:
    """url: as configured; path: what shows a request as it arrived, "" while no bot runs; port: the bot's own."""

    url: str
    path: str
    port: int

    def connect(self) -> http.client.HTTPSConnection:
        """A connection whose certificate is checked against the system's, or SSL_CERT_FILE."""
        parts = urlsplit(self.url)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=CHECK_SECONDS, context=context)


async def check_public(home: HomeFolder, config: Config) -> list[DoctorCheck]:
    """One check, or one for each fault; none where no public address is set."""
    web = config.channels.web
    if not web.on or not web.public_url:
        return []
    path, port = "", web.port
    if address := home.address():
        port = urlsplit(address).port or port
        try:
            path = str((await call_running_bot(home, "POST", "/api/proxy-check", {}))["path"])
        except MnemaError as err:
            return [_failed_check(str(err), "Look into data/log/mnema.log, or restart it.")]
    target = _CheckTarget(url=web.public_url, path=path, port=port)
    fault, seen = await asyncio.to_thread(_fetch, target)
    if fault is not None:
        return [_failed_check(*fault)]
    if not path:
        message = f"The certificate of {web.public_url} is right; mnema run is not running, so no more was tried."
        return [DoctorCheck(name=CHECK_NAME, ok=True, message=message, hint="Start it, then look again.")]
    found = [
        *_altered_headers(target, seen),
        *await asyncio.gather(*(asyncio.to_thread(look, target) for look in ADDRESS_CHECKS)),
    ]
    if faults := [fault for fault in found if fault is not None]:
        return [_failed_check(*fault) for fault in faults]
    hint = _check_client_address(seen, web.trusted_proxies)
    message = f"{web.public_url} reaches the page: certificate, Host, Origin, body size and event stream are right."
    return [DoctorCheck(name=CHECK_NAME, ok=True, message=message, hint=hint)]


def _fetch(target: _CheckTarget) -> tuple[AddressFault | None, Mapping[str, Any]]:
    """How one request arrived, or why it did not."""
    host = urlsplit(target.url).hostname or ""
    connection = target.connect()
    try:
        connection.request("GET", target.path or "/healthz", headers={"Origin": _origin(target)})
        answer = connection.getresponse()
        status, location, body = answer.status, answer.getheader("location", ""), answer.read(65_536)
    except ssl.SSLCertVerificationError as err:
        todo = f"Renew it, let it name {host}, and serve it with its whole chain."
        return (f"The certificate of {target.url} is not accepted: {err.verify_message}.", todo), {}
    except ssl.SSLError as err:
        todo = "Let the proxy serve TLS 1.2 or later on this port."
        return (f"{target.url} does not speak TLS: {err.reason or err}.", todo), {}
    except (OSError, http.client.HTTPException) as err:
        todo = f"Start the proxy, and look at the DNS entry of {host} and at the firewall."
        return (f"{target.url} cannot be reached: {str(err) or type(err).__name__}.", todo), {}
    finally:
        connection.close()
    return _judge(target, status, location, body)


def _judge(
    target: _CheckTarget, status: int, location: str, body: bytes
) -> tuple[AddressFault | None, Mapping[str, Any]]:
    if not target.path:
        return None, {}
    try:
        seen = json.loads(body)
        if status == 200 and seen["check"] == target.path.rpartition("/")[2]:
            return None, seen
    except (ValueError, LookupError, TypeError):
        pass
    inner = f"http://127.0.0.1:{target.port}"
    if 300 <= status < 400:
        todo = (
            f"Let it pass every path of this host to {inner} as it is; set public_url to the address without redirect."
        )
        return (f"{target.url} redirects to {location[:200]}.", todo), {}
    if status in (502, 503, 504):
        return (f"The proxy at {target.url} answers {status}: it does not reach mnema.", f"Let it pass to {inner}."), {}
    todo = f"Let it pass every path of this host to {inner}, with no login and no pages of its own."
    return (f"Something else answers at {target.url}, with {status}.", todo), {}


def _altered_headers(target: _CheckTarget, seen: Mapping[str, Any]) -> list[AddressFault]:
    """What was changed on the way."""
    faults = []
    host = parse_public_url(target.url).host.decode()
    if [name.lower() for name in seen["host"]] != [host]:
        todo = f"Let it pass Host on as it is; nginx: proxy_set_header Host $http_host; then {host} arrives."
        faults.append((f"The proxy changes Host to {', '.join(seen['host'])[:200]}.", todo))
    if seen["origin"] != [_origin(target)]:
        became = f"changes Origin to {', '.join(seen['origin'])[:200]}" if seen["origin"] else "takes Origin out"
        todo = "Let it pass Origin on as it is: without it nobody can sign in or write."
        faults.append((f"The proxy {became}.", todo))
    return faults


def _check_body_limit(target: _CheckTarget) -> AddressFault | None:
    """Whether it refuses a large upload, of which only the header is sent."""
    connection = target.connect()
    try:
        connection.putrequest("POST", target.path)
        connection.putheader("Content-Length", str(MAX_BODY_BYTES))
        connection.putheader("Content-Type", "application/octet-stream")
        connection.putheader("Expect", "100-continue")
        connection.endheaders()
        status = connection.sock.recv(64).split(b" ")[1:2]
    except (OSError, http.client.HTTPException):
        return None  # it waits for the body, and so takes it
    finally:
        connection.close()
    if status != [b"413"]:
        return None
    return "The proxy takes no uploads of 36 MB.", "Raise its limit; nginx: client_max_body_size 40m;"


def _check_stream(target: _CheckTarget) -> AddressFault | None:
    """Whether the first line of an event stream waits for the last."""
    connection = target.connect()
    fault = (
        "The proxy holds the event stream back: answers do not grow.",
        "Switch its buffering and compression off; nginx: proxy_buffering off; Caddy: flush_interval -1",
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


ADDRESS_CHECKS: Sequence[Callable[[_CheckTarget], AddressFault | None]] = (_check_body_limit, _check_stream)


def _check_client_address(seen: Mapping[str, Any], trusted: Sequence[str]) -> str:
    peer = str(seen["peer"])
    if seen["forwarded_for"] and any(ip_address(peer) in network for network in parse_networks(trusted)):
        return ""
    return (
        f"All clients count as one at wrong tokens: list {peer} in channels.web.trusted_proxies, "
        "and let the proxy send X-Forwarded-For."
    )


def _origin(target: _CheckTarget) -> str:
    return parse_public_url(target.url).origin.decode()


def _failed_check(message: str, hint: str) -> DoctorCheck:
    return DoctorCheck(name=CHECK_NAME, ok=False, message=message, hint=hint)
