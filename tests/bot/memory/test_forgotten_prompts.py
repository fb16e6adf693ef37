"""What was forgotten is in no later request, though a prompt was built from it before and not
stored yet.
"""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.bot.inside import Inside, inside

SECRET = "ZANZIBAR7"


async def show_by_command(it: Inside) -> None:
    await it.text("/context", chat="c2")


async def show_in_page(it: Inside) -> None:
    await it.bot.report.facts(await it.conversation("c2"))


@pytest.mark.parametrize("show", [show_by_command, show_in_page])
async def test_a_prompt_that_was_only_looked_at_does_not_keep_it(
    tmp_path: Path, show: Callable[[Inside], Awaitable[None]]
) -> None:
    async with inside(tmp_path, ["ok"] * 9, {"timezone": "UTC"}) as it:
        await it.text("hello", chat="c2")
        log = tmp_path / "workspace" / "memory" / f"{datetime.now(UTC):%Y-%m-%d}.md"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"# Day\n\n## 10:00 talk\n\n- Anna said {SECRET} is the code word.\n")
        log.chmod(0o600)
        await it.text("/new", chat="c2")
        await show(it)

        asked = await it.text(f"/forget {SECRET}", chat="c1")
        confirmed = re.search(r"/forget yes [A-Z0-9]{4}-[A-Z0-9]{4}", asked)
        assert confirmed is not None
        await it.text(confirmed[0], chat="c1")
        assert SECRET not in log.read_text()

        before = len(it.model.requests)
        await it.text("hi", chat="c2")
        assert SECRET not in repr(it.model.requests[before:])
        assert SECRET not in repr(await it.bot.store.sessions.snapshot(await it.conversation("c2")))
