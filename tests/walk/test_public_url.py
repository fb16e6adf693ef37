"""The running bot takes the public address and the listed proxies from its configuration."""

import json
from pathlib import Path

from tests.walk.harness import Bot, settings

PUBLIC = "https://bot.example.org"


async def test_the_running_bot_answers_under_its_public_address_and_says_so(tmp_path: Path) -> None:
    config = settings("http://127.0.0.1:9")
    config["channels"]["web"] |= {"public_url": PUBLIC, "trusted_proxies": ["127.0.0.0/8"]}
    bot = Bot(tmp_path, config)
    await bot.start()
    token = (tmp_path / "data" / "web_token").read_text().strip()
    there = {
        "host": "bot.example.org",
        "origin": PUBLIC,
        "x-forwarded-for": "198.51.100.7, 203.0.113.9",
    }
    answer = await bot.web.ask("POST", "/login", json={"token": token}, headers=there)
    assert answer.status_code == 200
    assert answer.headers["set-cookie"].startswith("__Host-mnema_")
    elsewhere = await bot.web.ask("GET", "/login", headers={"host": "evil.example"})
    assert elsewhere.status_code == 400
    assert elsewhere.json()["error"]["message"] == (
        "this server answers only under its own addresses: loopback and bot.example.org"
    )
    assert (
        await bot.web.ask("POST", "/login", json={"token": "no"}, headers=there)
    ).status_code == 401
    log = map(json.loads, (tmp_path / "data" / "log" / "mnema.log").read_text().splitlines())
    assert [line["client"] for line in log if line["event"] == "login refused"] == ["203.0.113.9"]
    assert await bot.term() == 0
