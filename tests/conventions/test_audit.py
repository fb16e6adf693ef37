"""The audit of what is locked: a known vulnerability fails it, an advisory service that is away
does not.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.conventions.sources import ROOT

LOCK = f"demo==1.0 \\\n    --hash=sha256:{'0' * 64}\n"
BUG = {
    "id": "PYSEC-2026-1",
    "summary": "everybody may",
    "affected": [
        {
            "package": {"name": "demo", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.1"}]}],
        }
    ],
}


@contextmanager
def advisories(answer: dict[str, Any], status: int = 200) -> Iterator[str]:
    """An advisory service with one answer to everything; its address."""

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
        server.shutdown()


def audit(tmp_path: Path, url: str) -> subprocess.CompletedProcess[str]:
    if not (ROOT / ".venv" / "bin" / "pip-audit").exists():
        pytest.skip("there is no pip-audit in .venv")
    lock = tmp_path / "demo.lock"
    lock.write_text(LOCK)
    called = [str(ROOT / "scripts" / "audit.sh"), str(lock)]
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PIP_AUDIT_OSV_URL": url}
    return subprocess.run(called, env=environ, capture_output=True, text=True, check=False)


def test_a_known_vulnerability_fails_it_and_is_named(tmp_path: Path) -> None:
    with advisories({"vulns": [BUG]}) as url:
        ran = audit(tmp_path, url)
    assert ran.returncode == 1
    assert "PYSEC-2026-1" in ran.stderr
    assert '"1.1"' in ran.stderr
    assert "has known vulnerabilities" in ran.stderr


def test_none_is_said(tmp_path: Path) -> None:
    with advisories({}) as url:
        ran = audit(tmp_path, url)
    assert (ran.returncode, ran.stdout) == (
        0,
        f"{tmp_path}/demo.lock: no known vulnerability.\n",
    ), ran.stderr


def test_a_service_that_cannot_be_asked_fails_nothing_and_is_said(tmp_path: Path) -> None:
    with advisories({}, status=503) as url:
        ran = audit(tmp_path, url)
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr.startswith("audit skipped, the advisories could not be reached: ")


def test_ci_runs_it() -> None:
    assert "scripts/audit.sh" in (ROOT / ".ci" / "run").read_text()
