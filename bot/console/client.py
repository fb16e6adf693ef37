"""Calls of a command to the `mnema run` that holds its home, over its HTTP API."""

import asyncio
from collections.abc import Mapping
from typing import Any

from bot.config.home import HomeFolder
from bot.errors import MnemaError

REQUEST_SECONDS = 10.0  # seconds that a running bot may take to answer


async def call_running_bot(
    home: HomeFolder,
    method: str,
    path: str,
    told: Mapping[str, Any] | None = None,
    *,
    patience: float = REQUEST_SECONDS,
) -> dict[str, Any]:
    """Send one request to the running bot and return its answer. told: the body; patience: seconds to wait.

    Raises:
        MnemaError: it refused, did not answer in time, or could not be reached.
    """
    from channels.terminal.client import BotClient

    try:
        token = home.web_token.read_text(encoding="utf-8").strip()
        return (await BotClient(home.address(), token).request(method, path, told, timeout=patience))[1]
    except TimeoutError as err:
        raise MnemaError(f"The running bot gave no answer in {patience:g} seconds.") from err
    except (OSError, RuntimeError, ValueError) as err:
        raise MnemaError(f"The running bot could not do it: {str(err).rstrip('.')}.") from err


def call_running_bot_now(
    home: HomeFolder,
    method: str,
    path: str,
    told: Mapping[str, Any] | None = None,
    *,
    patience: float = REQUEST_SECONDS,
) -> dict[str, Any]:
    """The same, for a command that waits for nothing else."""
    return asyncio.run(call_running_bot(home, method, path, told, patience=patience))
