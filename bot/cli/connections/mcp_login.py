"""`mnema mcp login`: the person consents in a browser, which comes back to this machine; or the
address is pasted.
"""

import asyncio
import sys
import threading
from urllib.parse import urlsplit

from bot.cli.common import printable
from bot.cli.connections.mcp_review import load_config
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.tools.mcp.oauth import LoginFiles, McpLoginError, log_in
from memory.workspace.write_locks import LOCAL_WRITE_LOCKS

CONSENT_SECONDS = 600.0
CALLBACK_PATH = "/callback"
MAX_REQUEST_BYTES = 16_384
_PAGE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nYou "
    b"can close this page."
)
_ELSE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def login(home: HomeFolder, name: str) -> int:
    """Log in at a server of config.json and store the login."""
    settings = load_config(home).mcp.get(name)
    if settings is None:
        raise MnemaError(f"config.json has no server {name!r} under mcp.")
    if settings.auth != "oauth":
        raise MnemaError(
            f'{name} needs no login of yours: mcp.{name}.auth is "{settings.auth}", not "oauth".'
        )
    issuer = asyncio.run(_Consent().run(home, name))
    print(
        f"Logged in at {name} (by {printable(issuer)}). A running bot picks this up with the next "
        "call."
    )
    return 0


class _Consent:
    """Waits for the address that the browser is sent back to."""

    async def run(self, home: HomeFolder, name: str) -> str:
        """Log in; return the issuer."""
        self._address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MAX_REQUEST_BYTES)
        self._root = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        files = LoginFiles(home.mcp_logins, LOCAL_WRITE_LOCKS)
        async with server:
            try:
                settings = load_config(home).mcp[name]
                return await log_in(
                    name, settings, files, f"{self._root}{CALLBACK_PATH}", self._ask
                )
            except McpLoginError as err:
                raise MnemaError(f"The login at {name} failed: {printable(str(err))}.") from err

    async def _ask(self, url: str) -> str:
        print(f"Open this address in a browser and consent:\n\n{printable(url)}\n")
        print(
            "If the browser is on another machine, it ends at a page that does not load: paste its "
            "address here."
        )
        sys.stdout.flush()
        loop = asyncio.get_running_loop()
        # A thread that reads a terminal cannot be ended, so it must not hold up the end of the
        # program.
        threading.Thread(target=self._read_typed, args=(loop,), daemon=True).start()
        try:
            async with asyncio.timeout(CONSENT_SECONDS):
                return await self._address
        except TimeoutError as err:
            raise McpLoginError(
                f"nobody consented within {CONSENT_SECONDS / 60:.0f} minutes"
            ) from err

    def _read_typed(self, loop: asyncio.AbstractEventLoop) -> None:
        for line in sys.stdin:
            if "code=" in line or "error=" in line:
                loop.call_soon_threadsafe(self._take, line.strip())
                return

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            words = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split(" ", 2)
            target = words[1] if len(words) == 3 else ""
            is_callback = words[0] == "GET" and urlsplit(target).path == CALLBACK_PATH
            writer.write(_PAGE if is_callback else _ELSE)
            await writer.drain()
            if is_callback:
                self._take(f"{self._root}{target}")
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # no browser
        finally:
            writer.close()

    def _take(self, address: str) -> None:
        if not self._address.done():
            self._address.set_result(address)
