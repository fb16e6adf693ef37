"""An attacker in the place of a platform, without its certificate, and what the attacker
receives.
"""

import asyncio
import datetime
import ipaddress
import json
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Kind = Literal["good", "another's", "self-signed", "expired"]
BAD: tuple[Kind, ...] = ("another's", "self-signed", "expired")
HANDSHAKE = 0x16  # the first byte of a connection that begins with TLS


class Authority:
    """A trusted certificate authority, its certificates, and certificates made without it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of the test")])
        own = _bare(self._name, self._name, self._key).add_extension(
            x509.BasicConstraints(True, None), critical=True
        )
        self.pem = (
            own.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
        )

    def context(self, kind: Kind) -> ssl.SSLContext:
        """Return a server's TLS context."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, kind)])
        alone = kind == "self-signed"
        made = _bare(subject, subject if alone else self._name, key, over=kind == "expired")
        host: x509.GeneralName = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        if kind == "another's":
            host = x509.DNSName("platform.example")
        made = made.add_extension(x509.SubjectAlternativeName([host]), critical=False)
        signed = made.sign(key if alone else self._key, hashes.SHA256())
        path = self._folder / f"{kind}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        path.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def trusted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make this process trust the authority and no other; the system's take 50 ms to read."""
        path = self._folder / "authority.pem"
        path.write_text(self.pem)
        monkeypatch.setenv("SSL_CERT_FILE", str(path))


@dataclass
class Impostor:
    """A server. kinds: the certificates of its first, second and following connections; the last
    one repeats.

    raw: what came over each connection, as it came; heard: what was said in the open once TLS was
    agreed on. answers: JSON by path. opened: the certificates shown so far.
    """

    authority: Authority
    kinds: Sequence[Kind]
    answers: Mapping[str, Any] = field(default_factory=dict)
    raw: list[bytearray] = field(default_factory=list)
    heard: list[tuple[Kind, bytes]] = field(default_factory=list)
    opened: list[Kind] = field(default_factory=list)
    port: int = 0

    def said_to(self, *kinds: Kind) -> bytes:
        """Return what was received over connections with such certificates."""
        return b"".join(text for kind, text in self.heard if kind in kinds)

    def plain(self) -> bytes:
        """Return what was received over connections without TLS."""
        return b"".join(bytes(one) for one in self.raw if one[:1] != bytes([HANDSHAKE]))

    async def relay(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, inner: dict[Kind, int]
    ) -> None:
        kind = self.kinds[min(len(self.opened), len(self.kinds) - 1)]
        self.opened.append(kind)
        kept = bytearray()
        self.raw.append(kept)
        there, back = await asyncio.open_connection("127.0.0.1", inner[kind])
        with suppress(asyncio.CancelledError):
            await asyncio.gather(_pump(reader, back, kept), _pump(there, writer, bytearray()))

    async def answer(
        self, kind: Kind, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heard.append((kind, head))
                fields = {line.lower().split(b":")[0]: line for line in head.split(b"\r\n")[1:]}
                length = int(fields.get(b"content-length", b":0").partition(b":")[2])
                self.heard.append((kind, await reader.readexactly(length)))
                path = head.split(b" ")[1].decode().partition("?")[0]
                found = next(
                    (told for end, told in self.answers.items() if path.endswith(end)), None
                )
                body = json.dumps(found or {}).encode()
                status = b"200 OK" if found is not None else b"500 No"
                writer.write(b"HTTP/1.1 %s\r\nContent-Type: application/json\r\n" % status)
                writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                await writer.drain()
        writer.close()


@asynccontextmanager
async def impostor(
    authority: Authority, *kinds: Kind, answers: Mapping[str, Any] | None = None
) -> AsyncIterator[Impostor]:
    """Run a server at 127.0.0.1."""
    one = Impostor(authority, kinds, answers or {})
    servers, inner = [], {}
    for kind in {*kinds}:
        context = authority.context(kind)
        server = await asyncio.start_server(
            lambda r, w, kind=kind: one.answer(kind, r, w),  # type: ignore[misc]
            "127.0.0.1",
            ssl=context,
        )
        inner[kind] = server.sockets[0].getsockname()[1]
        servers.append(server)
    door = await asyncio.start_server(lambda r, w: one.relay(r, w, inner), "127.0.0.1")
    one.port = door.sockets[0].getsockname()[1]
    try:
        yield one
    finally:
        for server in (door, *servers):
            server.close()


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray
) -> None:
    with suppress(OSError, asyncio.CancelledError):
        while piece := await reader.read(65_536):
            kept += piece
            writer.write(piece)
            await writer.drain()
    writer.close()


def _bare(
    subject: x509.Name, issuer: x509.Name, key: Any, *, over: bool = False
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    end = now + datetime.timedelta(days=-1 if over else 1)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=3))
        .not_valid_after(end)
    )
