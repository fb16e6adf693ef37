"""Two at once: on one home the second ends and says why; with one account from two homes one of
them stands by.
"""

import asyncio
from pathlib import Path

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.walk.harness import OWNER, Scene, mnema, scene, until
from tests.walk.speech import answer, asked


@by_night
async def test_I11_a_second_run_on_the_same_home_ends_with_one_sentence(tmp_path: Path) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer)) as talk:
        await talk.bot.start()
        code, out, err = await mnema(tmp_path, "run")
        assert code == 1
        assert out == ""
        assert err == (
            f"mnema: Another mnema (process {talk.bot.pid}) is running on {tmp_path}; stop it "
            "first.\n"
        )
        assert await talk.say("talk", asked("still here?")) == "re «still here?»"


async def mood(talk: Scene) -> str:
    found: str = (await talk.web.get("/api/status"))["channels"]["telegram"]["state"]
    return found


@by_night
async def test_I11_of_two_with_one_account_one_hears_and_the_other_stands_by_and_says_so(
    tmp_path: Path,
) -> None:
    async with (
        TelegramEmulator() as telegram,
        scene(tmp_path / "one", ModelEmulator(responder=answer), telegram.url) as one,
        scene(tmp_path / "two", ModelEmulator(responder=answer), telegram.url) as two,
    ):
        both = (one, two)
        for talk in both:
            await talk.bot.start()
            await talk.say("main", asked("here"))
        await until(lambda: _any_stands_by(both), "one of the two stands by")
        [aside] = [talk for talk in both if await mood(talk) == "contended"]
        [hears] = [talk for talk in both if talk is not aside]

        telegram.inject(asked("who hears me?"), user=int(OWNER))
        await until(lambda: len(telegram.sent()) == 1, "an answer")
        assert [seen.text for seen in telegram.sent()] == ["re «who hears me?»"]

        assert (await aside.web.ask("GET", "/readyz")).status_code == 503
        assert (await hears.web.ask("GET", "/readyz")).status_code == 200
        assert "○ telegram — on standby for" in await aside.say("main", "/status")
        assert "● telegram — connected for" in await hears.say("main", "/status")
        sentence = "Another program is receiving with the account of channel telegram"
        await until(lambda: sentence in aside.bot.complaints(), "it says so on stderr")
        await until(lambda: _told(aside, sentence), "it tells its owner")
        code, out, _ = await mnema(aside.bot.home, "doctor")
        assert code == 1
        assert "FAIL channel telegram: Stands by for" in out
        assert one.bot.alive
        assert two.bot.alive
        assert sentence not in hears.bot.complaints()


async def _any_stands_by(both: tuple[Scene, Scene]) -> bool:
    return "contended" in await asyncio.gather(*map(mood, both))


async def _told(talk: Scene, sentence: str) -> bool:
    return sum(sentence in line["text"] for line in await talk.web.lines("main")) == 1
