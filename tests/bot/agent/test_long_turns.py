"""A turn ends after a quarter of an hour: first the model is asked to sum up, then it is ended."""

from pathlib import Path

from bot.agent.timeouts import TurnTimeouts
from bot.models.base import Request
from tests.bot.inside import inside
from tests.bot.talk import Held, call, words


async def test_a_turn_that_has_taken_long_is_summed_up_without_more_tools(tmp_path: Path) -> None:
    def script(request: Request) -> object:
        return ["as far as I got", call("list_files")]

    async with inside(tmp_path, script, times=TurnTimeouts(last_step_after=0.0)) as it:  # type: ignore[arg-type]
        said = await it.text("go on for ever")
        assert said == "as far as I got\n\n(this answer has taken 0 minutes; this is how far I got)"
        [request] = it.model.requests
        assert any("no more time is left" in text for text in words(request))


async def test_a_turn_that_takes_too_long_is_ended_and_says_so(tmp_path: Path) -> None:
    async with inside(tmp_path, [], times=TurnTimeouts(cancel_after=0.3)) as it:
        held = Held(lambda _: "late", lambda request: "endless" in str(request.messages[-1]))
        it.bot.models.use(held)
        said = await it.text("endless")
        assert said.startswith("This answer took more than 0 minutes and was stopped")
        assert await it.text("another") == "late"
