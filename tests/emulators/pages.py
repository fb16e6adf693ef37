"""A web server on this machine that answers each path as a test says, over real sockets."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRequest:
    """A request as it arrived."""

    method: str
    target: str
    #: Names in lower case.
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True, kw_only=True)
class PageServer:
    """Answers by path; what it does not know is 404. `raw` answers are written as they are."""

    port: int = 0
    pages: dict[str, bytes | Callable[[SeenRequest, asyncio.StreamWriter], object]] = field(
        default_factory=dict
    )
    seen: list[SeenRequest] = field(default_factory=list)
    connections: int = 0

    @property
    def pair(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.pair}{path}"

    def page(
        self, path: str, html: str | bytes, kind: str = "text/html; charset=utf-8", **headers: str
    ) -> None:
        """Answer a path with a page."""
        body = html.encode() if isinstance(html, str) else html
        self.pages[path] = answer(body, kind, **headers)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of a connection."""
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            method, target, _ = first.split(" ", 2)
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines if line)
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            request = SeenRequest(method=method, target=target, headers=headers, body=body)
            self.seen.append(request)
            reply = self.pages.get(
                target.partition("?")[0], answer(b"none", "text/plain", status="404 Not Found")
            )
            if isinstance(reply, bytes):
                writer.write(reply)
            else:
                done = reply(request, writer)
                if asyncio.iscoroutine(done):
                    await done
            await writer.drain()
        writer.close()


def answer(body: bytes, kind: str, status: str = "200 OK", **headers: str) -> bytes:
    """Build a whole answer."""
    given = {"Content-Type": kind, "Content-Length": str(len(body)), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def redirect(target: str, status: str = "302 Found") -> bytes:
    """Build an answer that leads on."""
    return answer(b"", "text/plain", status, Location=target)


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None) -> AsyncIterator[PageServer]:
    """A server on a free port of 127.0.0.1."""
    pages = PageServer()
    server = await asyncio.start_server(pages.serve, "127.0.0.1", 0, ssl=tls, limit=2**20)
    pages.port = server.sockets[0].getsockname()[1]
    try:
        yield pages
    finally:
        server.close()


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Write a certificate for a host name, signed by itself, and its key; return their paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(secret)
    return folder / "certificate.pem", folder / "key.pem"
