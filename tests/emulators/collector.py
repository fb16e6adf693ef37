"""An OpenTelemetry collector that takes traces by OTLP over HTTP, strictly, and keeps them.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp.
"""

import asyncio
import gzip
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Wire
from opentelemetry.proto.trace.v1.trace_pb2 import Status

TYPE = "application/x-protobuf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """One span as it arrived: ids in hex letters, "" for no parent; start, end: unix
    nanoseconds.
    """

    name: str
    trace: str
    span: str
    parent: str
    kind: str
    start: int
    end: int
    failed: bool
    facts: dict[str, Any]
    resource: dict[str, Any]


class Collector:
    """Listens on loopback. got: every span, in order of arrival; refuse: answer 503 to all; silent:
    never answer.
    """

    def __init__(self, *, refuse: bool = False, silent: bool = False) -> None:
        self.got: list[Got] = []
        self.asked = 0
        self._refuse = refuse
        self._silent = silent
        self._server: asyncio.Server | None = None
        self._moved = asyncio.Event()
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        assert self._server
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        for writer in self._open:
            writer.transport.abort()

    async def until(self, holds: Callable[[list[Got]], object], seconds: float = 20.0) -> list[Got]:
        """Wait until something is true of the spans."""
        async with asyncio.timeout(seconds):
            while not holds(self.got):
                self._moved.clear()
                await self._moved.wait()
        return self.got

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in head[1:])
                }
                body = await reader.readexactly(int(headers["content-length"]))
                self.asked += 1
                if not self._silent:
                    writer.write(self._answer(head[0], headers, body))
                    await writer.drain()
        self._open.discard(writer)

    def _answer(self, line: str, headers: dict[str, str], body: bytes) -> bytes:
        if self._refuse:
            return _said("503 Service Unavailable", b"")
        if line != "POST /v1/traces HTTP/1.1":
            return _said("404 Not Found", b"")
        if headers.get("content-type") != TYPE:
            return _said("415 Unsupported Media Type", b"")
        plain = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        request = ExportTraceServiceRequest()
        request.ParseFromString(plain)
        for whole in request.resource_spans:
            resource = _facts(whole.resource.attributes)
            self.got += [
                _got(span, resource) for scope in whole.scope_spans for span in scope.spans
            ]
        self._moved.set()
        return _said("200 OK", ExportTraceServiceResponse().SerializeToString())


def _said(status: str, body: bytes) -> bytes:
    return (
        f"HTTP/1.1 {status}\r\ncontent-type: {TYPE}\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        + body
    )


def _got(span: Wire, resource: dict[str, Any]) -> Got:
    return Got(
        name=span.name,
        trace=span.trace_id.hex(),
        span=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        kind=Wire.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        failed=span.status.code == Status.StatusCode.STATUS_CODE_ERROR,
        facts=_facts(span.attributes),
        resource=resource,
    )


def _facts(attributes: Any) -> dict[str, Any]:
    found = {}
    for one in attributes:
        kind = one.value.WhichOneof("value")
        value = getattr(one.value, kind)
        found[one.key] = (
            [item.string_value for item in value.values] if kind == "array_value" else value
        )
    return found
