"""A changed config.json in a running bot: what is put in force, and in which order."""

import json
from pathlib import Path

from bot.config.schema import Config
from tests.bot.inside import inside

TOKEN = "12345:a-token-of-a-channel-that-is-new"


async def test_the_log_knows_a_new_secret_before_a_channel_uses_it(tmp_path: Path) -> None:
    seen: list[tuple[str, bool]] = []
    async with inside(tmp_path, ["never asked"]) as it:

        def learn(config: Config) -> None:
            seen.append((config.channels.telegram.token, "telegram" in it.bot.channels))

        it.bot.reconfigured = learn
        telegram = {"enabled": True, "token": TOKEN, "base_url": "http://127.0.0.1:9"}
        (tmp_path / "config.json").write_text(json.dumps({"channels": {"telegram": telegram}}))
        it.bot.file.load()
        await it.bot._on_config_changed(it.bot.file.current)
        assert seen == [(TOKEN, False)]
        assert "telegram" in it.bot.channels
