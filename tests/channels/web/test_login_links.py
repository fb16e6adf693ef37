"""Links that sign one browser in: once, within ten minutes, from the page's own hosts; over real
sockets.
"""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.channels.web.server import TOKEN, Running, ScriptedBot, running

TEN_MINUTES = 600.0  # a literal, so that the product is not compared with itself
REFUSAL = "this link was already used or is older than ten minutes: mnema login prints a new one"


class Clock:
    """Monotonic seconds that a test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def site(clock: Clock) -> AsyncIterator[Running]:
    async with running(ScriptedBot(), clock=clock) as up:
        yield up


async def enter(site: Running, code: str, **headers: str) -> httpx.Response:
    async with site.nobody() as client:
        return await client.post("/login", json={"code": code}, headers=headers)


async def test_a_link_signs_in_once_and_the_session_may_do_what_one_of_the_token_may(
    site: Running,
) -> None:
    code = site.gate.create_login_code()
    async with site.nobody() as client:
        first = await client.post("/login", json={"code": code}, headers={"origin": site.base})
        assert first.status_code == 200
        assert (await client.get("/api/conversations")).status_code == 200
    second = await enter(site, code)
    assert (second.status_code, second.json()["error"]["message"]) == (401, REFUSAL)


async def test_who_made_a_link_learns_that_it_is_used_up(site: Running) -> None:
    used: list[str] = []
    code = site.gate.create_login_code(on_use=lambda: used.append("used"))
    await enter(site, "another")
    assert used == []
    await enter(site, code)
    await enter(site, code)
    assert used == ["used"]


@pytest.mark.parametrize(("seconds", "status"), [(TEN_MINUTES - 1, 200), (TEN_MINUTES, 401)])
async def test_a_link_ends_after_ten_minutes(
    site: Running, clock: Clock, seconds: float, status: int
) -> None:
    code = site.gate.create_login_code()
    clock.now += seconds
    assert (await enter(site, code)).status_code == status


async def test_another_host_or_origin_is_refused_and_uses_nothing_up(site: Running) -> None:
    code = site.gate.create_login_code()
    assert (await enter(site, code, host="evil.example")).status_code == 400
    assert (await enter(site, code, origin="http://evil.example")).status_code == 403
    assert (await enter(site, code, **{"sec-fetch-site": "cross-site"})).status_code == 403
    assert (await enter(site, code)).status_code == 200


async def test_what_is_no_code_signs_nobody_in_and_the_refusal_is_in_the_readers_language(
    site: Running,
) -> None:
    for wrong in ("", TOKEN, site.gate.create_login_code()[:-1]):
        assert (await enter(site, wrong)).status_code == 401
    chinese = await enter(site, "x", **{"accept-language": "zh-CN"})
    assert "mnema login" in chinese.json()["error"]["message"]
    assert "链接" in chinese.json()["error"]["message"]


async def test_a_new_token_ends_the_links_of_the_old_one(site: Running) -> None:
    code = site.gate.create_login_code()
    site.gate.rotate("another token of many random bits")
    assert (await enter(site, code)).status_code == 401


async def test_the_newest_links_are_the_ones_that_stay(site: Running) -> None:
    codes = [site.gate.create_login_code() for _ in range(21)]
    assert (await enter(site, codes[0])).status_code == 401
    assert (await enter(site, codes[1])).status_code == 200
    assert (await enter(site, codes[-1])).status_code == 200
