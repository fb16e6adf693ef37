"""What a command asks of the `mnema run` that holds its home."""

import asyncio
from collections.abc import Mapping
from typing import Any

from bot.config.home import Home
from bot.errors import MnemaError

PATIENCE = 10.0
"""Seconds that a running bot may take to tell how it is."""


async def ask_running(
    home: Home, method: str, path: str, told: Mapping[str, Any] | None = None, *, patience: float = PATIENCE
) -> dict[str, Any]:
    """What the bot that holds this home answers. told: the body; patience: seconds that it may take.

    Raises:
        MnemaError: it refused, did not answer in time, or could not be reached.
    """
    from channels.terminal.client import ask, endpoint

    try:
        token = home.web_token.read_text(encoding="utf-8").strip()
        return (await ask(endpoint(home.address(), token), method, path, told, patience=patience))[1]
    except TimeoutError as err:
        raise MnemaError(f"The running bot gave no answer in {patience:g} seconds.") from err
    except (OSError, RuntimeError, ValueError) as err:
        raise MnemaError(f"The running bot could not do it: {str(err).rstrip('.')}.") from err


def of_running(
    home: Home, method: str, path: str, told: Mapping[str, Any] | None = None, *, patience: float = PATIENCE
) -> dict[str, Any]:
    """The same, for a command that waits for nothing else."""
    return asyncio.run(ask_running(home, method, path, told, patience=patience))
