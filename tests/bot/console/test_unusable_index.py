"""An unusable index fails searches and nothing else: people get replies, and each searcher a
reason.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.cli.doctor.report import run_checks
from bot.config.home import HomeFolder
from bot.console.site import attach_console
from bot.models.base import Request
from bot.models.providers.offline import ScriptedAnswer
from tests.bot.inside import inside
from tests.bot.talk import call, results
from tests.channels.web.server import ScriptedBot, running


def a_file(index: Path) -> None:
    index.write_text("not a folder")


def a_folder_in_its_place(index: Path) -> None:
    (index / "owner.db").mkdir(parents=True)


@pytest.mark.parametrize("odd", [a_file, a_folder_in_its_place])
async def test_an_index_that_is_no_folder_is_503_for_searches_and_nothing_for_turns(
    tmp_path: Path, odd: Callable[[Path], None]
) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    (home.workspace / "MEMORY.md").write_text("- likes green tea\n")
    odd(home.index)

    def script(request: Request) -> ScriptedAnswer:
        if results(request):
            return results(request)[-1].text
        return (
            call("memory_search", query="tea") if "search" in str(request.messages[-1]) else "yes"
        )

    async with (
        inside(tmp_path, script) as it,
        running(ScriptedBot(), opened=False) as site,
        site.client() as owner,
    ):
        assert await it.text("which tea do I like?", chat="c1") == "yes"
        found = await it.text("search it", chat="c2")
        assert found.startswith(
            f"memory_search failed: the search index in {home.index} cannot be used ("
        )
        told = await it.text("/memory search tea", chat="c3")
        assert told.startswith(
            f"That did not work: the search index in {home.index} cannot be used ("
        )
        attach_console(site.site, it.bot)
        for answer in (
            await owner.get("/api/memory/search", params={"q": "tea"}),
            await owner.post("/api/v1/memory/index", json={}),
        ):
            assert answer.status_code == 503
            error = answer.json()["error"]
            assert error["code"] == "index"
            assert error["message"].startswith(
                f"memory cannot be searched now: the search index in {home.index} "
            )
            assert "delete it: a new index is made by itself" in error["message"]
        check = next(check for check in await run_checks(home) if check.name == "index")
        assert not check.ok
        assert check.hint
