"""What models read, to the letter, and what it costs; `prompt_texts` says how to rewrite the files
after a review.
"""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.agent.context.calibration import load_best_counter
from bot.agent.prompt.system_rules import system_rules
from bot.agent.turn_context import format_clock_note
from bot.config.home import HomeFolder
from tests.bot.agent.prompt_texts import FOLDER, render_texts
from tests.bot.inside import inside
from tests.cases import every_case

# of a request without any words: system parts of a new home, and the tools
MAX_FIXED_TOKENS = 2_310


def test_the_prompts_are_as_they_were_reviewed() -> None:
    assert render_texts() == {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.txt")}


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_new_home_spends_few_tokens_before_the_first_word(
    tmp_path: Path, language: str
) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    home.set_soul_language(language)
    async with inside(tmp_path, ["ok"]) as it:
        await it.text("hello")
        facts = await it.bot.report.facts(await it.conversation())
    assert facts["counter"]["name"] == "tiktoken"
    request = it.model.requests[0]
    counter = load_best_counter()
    fixed = sum(map(counter.text, request.system)) + counter.tools(request.tools)
    assert facts["parts"]["system"] + facts["parts"]["tools"] == fixed
    assert fixed <= MAX_FIXED_TOKENS


def test_what_the_bot_cannot_do_follows_from_its_tools() -> None:
    (without,) = (line for line in system_rules(("recall",)).splitlines() if "cannot" in line)
    assert all(
        word in without for word in ("internet", "run programs", "remind", "pictures", "send files")
    )
    able = (
        "web_fetch",
        "web_search",
        "exec",
        "remind",
        "create_picture",
        "send_message",
        "read_file",
        "send_file",
        "memory_search",
    )
    assert "cannot" not in system_rules(able)
    (one,) = (line for line in system_rules(able[1:]).splitlines() if "cannot" in line)
    assert "open web pages" in one
    assert "run programs" not in one


def test_a_rule_about_a_tool_stands_only_while_the_tool_is_offered() -> None:
    assert "memory_write" in system_rules(("memory_write",))
    assert "memory_write" not in system_rules(("memory_search",))


@every_case(
    ("zone", "at", "told"),
    [
        (ZoneInfo("Asia/Shanghai"), (2026, 11, 20), "[Now: Friday 2026-11-20 20:05, UTC+8]"),
        (ZoneInfo("America/Chicago"), (2026, 11, 20), "[Now: Friday 2026-11-20 06:05, UTC−6]"),
        (ZoneInfo("America/Chicago"), (2026, 7, 20), "[Now: Monday 2026-07-20 07:05, UTC−5]"),
        (ZoneInfo("Asia/Kolkata"), (2026, 11, 20), "[Now: Friday 2026-11-20 17:35, UTC+5:30]"),
        (
            timezone(-timedelta(hours=3, minutes=30)),
            (2026, 11, 20),
            "[Now: Friday 2026-11-20 08:35, UTC−3:30]",
        ),
        (ZoneInfo("America/Sao_Paulo"), (2026, 11, 20), "[Now: Friday 2026-11-20 09:05, UTC−3]"),
        (ZoneInfo("Europe/London"), (2026, 11, 20), "[Now: Friday 2026-11-20 12:05, UTC]"),
    ],
)
def test_the_clock_says_weekday_date_time_and_offset(
    zone: tzinfo, at: tuple[int, int, int], told: str
) -> None:
    assert format_clock_note(datetime(*at, 12, 5, tzinfo=UTC).astimezone(zone)) == told
